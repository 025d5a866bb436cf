"""Rules: what a server lets others do, and what it hides from the gateway."""

from collections.abc import Iterator
from posixpath import normpath
from typing import Final

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.network import is_open_to_others
from gateway.adoption.rules.reading import is_set
from gateway.adoption.rules.rule import at_launch, found

KEEP_ALIVE: Final = "VLLM_HTTP_TIMEOUT_KEEP_ALIVE"
GATEWAY_IDLE_S: Final = 2.5
"""How long the gateway keeps an idle connection to a backend; vLLM keeps it 5 s by default."""


def no_api_key(candidate: Candidate) -> Iterator[Finding]:
    """An engine that others reach asks for a key; vLLM takes it from VLLM_API_KEY, too."""
    if candidate.arguments is None or candidate.has_api_key or not is_open_to_others(candidate):
        return
    if not candidate.environment.get("VLLM_API_KEY"):
        yield found(
            Code.NO_API_KEY,
            candidate,
            at_launch(candidate),
            host=candidate.bind_host or "0.0.0.0",
            port=candidate.port,
        )


def local_media_open(candidate: Candidate) -> Iterator[Finding]:
    """Clients may name files of one folder as media, not of the whole machine."""
    path = candidate.arguments.allowed_local_media_path if candidate.arguments else None
    if path and normpath(path) in ("/", "//"):
        yield found(Code.LOCAL_MEDIA_OPEN, candidate, at_launch(candidate), path=path)


def dev_mode_open(candidate: Candidate) -> Iterator[Finding]:
    """Routes such as /sleep and /collective_rpc are not for everybody."""
    if is_set(candidate, "VLLM_SERVER_DEV_MODE") and is_open_to_others(candidate):
        yield found(Code.DEV_MODE_OPEN, candidate, at_launch(candidate), port=candidate.port)


def kept_when_dead(candidate: Candidate) -> Iterator[Finding]:
    """A server whose engine died goes away, so that it is started again."""
    if is_set(candidate, "VLLM_KEEP_ALIVE_ON_ENGINE_DEATH"):
        yield found(Code.KEPT_WHEN_DEAD, candidate, at_launch(candidate))


def keep_alive_short(candidate: Candidate) -> Iterator[Finding]:
    """The server keeps idle connections longer than the gateway does, so none is cut in use."""
    text = candidate.environment.get(KEEP_ALIVE, "").strip()
    is_number = text.isascii() and text.isdecimal() and len(text) < 6
    if is_number and int(text) <= GATEWAY_IDLE_S:
        yield found(Code.KEEP_ALIVE_SHORT, candidate, at_launch(candidate), seconds=int(text))


def names_not_checked(candidate: Candidate) -> Iterator[Finding]:
    """A server refuses a name that it does not serve, so that a mix-up shows."""
    if is_set(candidate, "VLLM_SKIP_MODEL_NAME_VALIDATION"):
        yield found(Code.NAMES_NOT_CHECKED, candidate, at_launch(candidate))


def metrics_off(candidate: Candidate) -> Iterator[Finding]:
    """The engine counts what it does; without it /metrics says nothing of its load."""
    if candidate.launch is None or candidate.arguments is None:
        return
    options = {word.partition("=")[0].replace("_", "-") for word in candidate.launch.argv}
    if "--disable-log-stats" in options:
        yield found(Code.METRICS_OFF, candidate, at_launch(candidate))
