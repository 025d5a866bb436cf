"""The file of arrivals: one JSON line a request, the same for every contender."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.bench.prompts import Talks
from tests.sim.figures import SLOWEST_TTFT_S, TTFT_FACTOR, unloaded_ttft_s
from tests.sim.workload import Workload, build

MODEL: Final = "qwen3.5-9b"
SCENARIO: Final = "chat"


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request; times in engine seconds from the beginning of the run."""

    id: str
    at_s: float
    prompt_tokens: int
    """As drawn; the prompt made of it is a little longer where it was drawn very short."""
    output_tokens: int
    """The true length of the answer, which only the engine and the judge know."""
    ttft_limit_s: float
    """Latest first token of a good answer."""
    body: dict[str, Any]
    """What the client sends."""


def body_of(messages: list[dict[str, str]], max_tokens: int) -> dict[str, Any]:
    """A streamed chat request; `max_tokens` as a client sets it, not the answer's length."""
    return {
        "model": MODEL,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": max_tokens,
        "messages": messages,
    }


def arrivals_of(workload: Workload) -> list[Arrival]:
    """The requests of a workload with their text, in order of arrival."""
    talks = Talks(workload.seed, workload.fleet[0].block_size)
    return [
        Arrival(
            id=request.id,
            at_s=request.arrival_s,
            prompt_tokens=request.prompt_tokens,
            output_tokens=request.output_tokens,
            ttft_limit_s=max(
                SLOWEST_TTFT_S, TTFT_FACTOR * unloaded_ttft_s(workload.fleet, request)
            ),
            body=body_of(talks.ask(request), request.known.max_tokens),
        )
        for request in workload.requests
    ]


def make(seed: int, load: float, requests: int) -> list[Arrival]:
    """The arrivals of one run; loads of one seed differ in their times only."""
    return arrivals_of(build(SCENARIO, seed, requests, load))


def write(arrivals: Sequence[Arrival], path: Path) -> None:
    """Write the file."""
    lines = [msgspec.json.encode(asdict(arrival)) for arrival in arrivals]
    path.write_bytes(b"\n".join(lines) + b"\n")


def read(path: Path) -> list[Arrival]:
    """Read the file."""
    decoder = msgspec.json.Decoder(Arrival)
    return [decoder.decode(line) for line in path.read_bytes().splitlines()]
