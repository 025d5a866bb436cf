"""Rules: a container holds its model, keeps its log, and ends with its server."""

from collections.abc import Iterator
from posixpath import basename, normpath
from typing import Final

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.reading import joined
from gateway.adoption.rules.rule import at_container, at_launch, found

_SHELLS: Final = frozenset(("sh", "bash", "dash", "ash", "zsh", "ksh"))
_IDLE: Final = frozenset(("sleep", "tail", "cat", "init", "systemd"))
_WRAPPERS: Final = frozenset(("tini", "dumb-init", "exec", "--", "-g", "-s"))
_MOVING_TAGS: Final = ("", "latest", "main", "master", "nightly", "dev")


def not_the_main_process(candidate: Candidate) -> Iterator[Finding]:
    """The server is the main process of its container, so that both live and die together."""
    container, launch = candidate.container, candidate.launch
    if container is None or (launch is not None and launch.container is not None):
        return
    if _idles(container.argv) or (launch is not None and not container.argv):
        yield found(
            Code.NOT_THE_MAIN_PROCESS,
            candidate,
            container.origin,
            container=container.name,
            command=" ".join(container.argv) or f"CMD ({container.image})",
        )


def _idles(argv: tuple[str, ...]) -> bool:
    """Whether a command only keeps its container alive."""
    words = [word for word in argv if basename(word) not in _WRAPPERS]
    if not words:
        return False
    program = basename(words[0])
    if program in _SHELLS:
        script = next((i for i, word in enumerate(words) if _takes_script(word)), None)
        if script is not None:
            inner = " ".join(words[script + 1 :]).split()
            return not inner or basename(inner[0]) in _IDLE | _SHELLS | {"while"}
        return all(word.startswith("-") for word in words[1:])
    return program in _IDLE


def _takes_script(word: str) -> bool:
    return word.startswith("-") and not word.startswith("--") and "c" in word


def log_lost(candidate: Candidate) -> Iterator[Finding]:
    """What a server says is kept; `docker logs` shows nothing of one started by `docker exec`."""
    launch = candidate.launch
    if launch is None or launch.container is not None or not launch.container_name:
        return
    if not launch.log_files:
        yield found(Code.LOG_LOST, candidate, at_launch(candidate), container=launch.container_name)


def model_not_mounted(candidate: Candidate) -> Iterator[Finding]:
    """The model lies in a folder that the container is given."""
    container, path = candidate.container, candidate.model_path
    if container is None or path is None or not path.startswith("/"):
        return
    targets = [normpath(mount.target) for mount in container.mounts if mount.target]
    if any(_is_inside(normpath(path), target) for target in targets):
        return
    yield found(
        Code.MODEL_NOT_MOUNTED,
        candidate,
        at_container(candidate),
        model=path,
        container=container.name,
        mounts=joined(targets),
        image=container.image or "?",
    )


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def image_not_pinned(candidate: Candidate) -> Iterator[Finding]:
    """The image is named by a version or a digest, so that a restart brings the same again."""
    container = candidate.container
    if container is None or not container.image or "@" in container.image:
        return
    tag = basename(container.image).partition(":")[2]
    words = tag.lower().split("-")
    if words[0] in _MOVING_TAGS or "latest" in words or "nightly" in words:
        yield found(Code.IMAGE_NOT_PINNED, candidate, container.origin, image=container.image)
