"""`ssh HOST ...` and `kubectl exec POD -- ...`: commands that run somewhere else."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.adoption.containers.docker_command import is_bare_shell
from gateway.adoption.containers.options import grammar, read_options

_SSH: Final = grammar(
    "B b c D E e F I i J L l m O o P p Q R S W w",
    "4 6 A a C f G g K k M N n q s T t V v X x Y y",
)
"""OpenSSH 9, ssh(1)."""

_SSHPASS: Final = grammar("p f d P", "e v h V")

_KUBECTL: Final = grammar(
    """
    as as-group as-uid cache-dir certificate-authority client-certificate client-key cluster
    container context filename kubeconfig log-flush-frequency namespace password
    pod-running-timeout profile request-timeout server tls-server-name token user username v
    """,
    "insecure-skip-tls-verify match-server-version quiet stdin tty warnings-as-errors",
    "c=container f=filename i=stdin n=namespace q=quiet s=server t=tty",
    is_mixed=True,
)
"""kubectl 1.33, `kubectl exec --help` and `kubectl options`."""

_KUBECTLS: Final = frozenset({"kubectl", "oc", "k", "k3s", "microk8s"})
_REPLICA: Final = re.compile(r"-[0-9a-f]{6,10}-[0-9a-z]{5}$")


@dataclass(frozen=True, slots=True)
class Remote:
    """A command that runs on another machine or in a pod.

    A shell of `host` reads `text`, or its input where that is empty; a pod runs `argv`.
    `container_name` is the pod's, without what its Deployment adds to it. With `is_entered` it is
    a shell for somebody to type in, so what comes next is run there.
    """

    host: str = ""
    container_name: str = ""
    text: str = ""
    argv: tuple[str, ...] = ()
    is_entered: bool = False


def read_remote(argv: Sequence[str]) -> Remote | None:
    """Where `argv` runs a command and which; None where it runs none elsewhere."""
    tool = argv[0].rpartition("/")[2] if argv else ""
    if tool == "sshpass":
        return read_remote(read_options(argv[1:], _SSHPASS).words)
    if tool == "ssh":
        return _ssh(argv[1:])
    if tool in _KUBECTLS:
        return _kubectl(argv[1:])
    return None


def _ssh(words: Sequence[str]) -> Remote | None:
    """Options may stand on both sides of the host; the words behind are joined by blanks."""
    parsed = read_options(words, _SSH)
    before = parsed.words
    if not before:
        return None
    host = before[0].removeprefix("ssh://").rpartition("@")[2].partition("/")[0]
    if before[0].startswith("ssh://"):
        host = host.partition(":")[0]
    behind = read_options(before[1:], _SSH)
    is_tunnel = parsed.has("N", "f", "n", "O") or behind.has("N", "f", "n", "O")
    is_entered = not behind.words and not is_tunnel
    return Remote(host, text=" ".join(behind.words), is_entered=is_entered)


def _kubectl(words: Sequence[str]) -> Remote | None:
    given = [word for word in words[:1] if word == "kubectl"]
    found = read_options(words[len(given) :], _KUBECTL).words
    if len(found) < 3 or found[0] != "exec":
        return None
    pod = found[1].rpartition("/")[2]
    argv = found[2:]
    name = _REPLICA.sub("", pod)
    return Remote(container_name=name, argv=argv, is_entered=is_bare_shell(argv))
