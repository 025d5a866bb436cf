"""The servers of these tests as the tests see them."""

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

POLL_S = 0.05
# One opener for all polls, past any proxy. A new HTTP client for each poll would load certificates
# each time, which takes seconds while an engine keeps all cores busy.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url: str) -> tuple[int, str]:
    """Status and text; 0 if nothing answers."""
    try:
        with DIRECT.open(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()
    except OSError:
        return 0, ""


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(condition: Callable[[], bool], limit_s: float, what: str) -> float:
    """Wait for the condition and return how long it took, in seconds."""
    begun = time.monotonic()
    while not condition():
        waited_s = time.monotonic() - begun
        assert waited_s < limit_s, f"not within {limit_s} s: {what}"
        time.sleep(POLL_S)
    return time.monotonic() - begun


@dataclass(frozen=True, slots=True)
class Engine:
    """One real vLLM server: its address and its processes."""

    served_name: str
    port: int
    state: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def running(self) -> float:
        """`vllm:num_requests_running` as the engine tells it."""
        _, text = get(f"{self.url}/metrics")
        (line,) = (x for x in text.splitlines() if x.startswith("vllm:num_requests_running{"))
        return float(line.rpartition(" ")[2])

    def core_pid(self) -> int:
        """The process that holds the engine, a child of the API server."""
        (core,) = (
            pid
            for pid in descendants(int((self.state / f"{self.port}.pid").read_text()))
            if "EngineCore" in Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
        )
        return core


def descendants(pid: int) -> Iterator[int]:
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield child
            yield from descendants(child)


@dataclass(frozen=True, slots=True)
class Gateway:
    """The gateway under test."""

    url: str

    def health(self) -> dict[str, object]:
        """What /health says, nothing if it does not answer."""
        _, text = get(f"{self.url}/health")
        told: dict[str, object] = json.loads(text) if text else {}
        return told
