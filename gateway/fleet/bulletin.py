"""What a gateway tells the others several times a second: work, verdicts, figures, who waits."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from gateway.fleet.health.evidence import Activity
from gateway.fleet.health.machine import State
from gateway.fleet.live import LiveBackend
from gateway.fleet.peers import PeerWork

_FORMAT: Final = 1
_MOST_CHARS: Final = 300


class AtBackend(msgspec.Struct, array_like=True, frozen=True):
    """One gateway's part at one backend: its requests, and its work with them.

    `verdict` is what speaks against the backend, "" if nothing does. `figures` are what was read of
    the engine's metrics last, if this gateway reads them for all, and how many seconds ago.
    `step` is the line of its decode steps (intercept and slope in seconds) and how many tokens it
    was learnt from, `prompt` seconds a token and beside, and from how many first tokens.
    """

    requests: int
    streaming: int
    left_tokens: float
    pending_s: float
    context_tokens: float
    verdict: str = ""
    step: tuple[float, float, float] | None = None
    prompt: tuple[float, float, int] | None = None
    figures: tuple[Activity, float] | None = None


class Waiting(NamedTuple):
    """How many requests wait for a model, and since how many seconds the first of them."""

    length: int
    oldest_s: float


class Bulletin(msgspec.Struct, array_like=True, frozen=True):
    """All that one gateway tells. Backends are named by their keys, which all write alike.

    `config` is the version of its routing file, `refused` the published version that it could not
    put in force.
    """

    format: int
    config: str
    refused: str
    waiting: dict[str, tuple[int, float]]
    backends: dict[str, AtBackend]
    running: int = 0


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Bulletin)


def bulletin_of(
    backends: Iterable[LiveBackend],
    waiting: Mapping[str, Waiting],
    config: str,
    refused: str,
    now: float,
    read: Mapping[LiveBackend, tuple[Activity, float]] = MappingProxyType({}),
) -> bytes:
    """What to tell; only what this gateway has seen itself, so that no rumour goes round.

    `read` is what it has read of the engines' metrics, and when.
    """
    lives = list(backends)
    told = {live.key: _at(live, now, read.get(live)) for live in lives}
    queues = {model: (one.length, round(one.oldest_s, 3)) for model, one in waiting.items()}
    running = sum(live.in_flight for live in lives)
    return _ENCODER.encode(Bulletin(_FORMAT, config, refused, queues, told, running))


def read_bulletin(data: bytes) -> Bulletin | None:
    """What another gateway told; None for one of another make, which is passed over."""
    try:
        found = _DECODER.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return found if found.format == _FORMAT else None


def combined(key: str, requests: int | None, bulletins: Iterable[Bulletin]) -> PeerWork:
    """The work of all others at one backend; `requests` is what the store counts, if asked."""
    streaming, left, pending, context, told = 0, 0.0, 0.0, 0.0, 0
    for bulletin in bulletins:
        at = bulletin.backends.get(key)
        if at is not None:
            told += max(0, at.requests)
            streaming += max(0, at.streaming)
            left += max(0.0, at.left_tokens)
            pending += max(0.0, at.pending_s)
            context += max(0.0, at.context_tokens)
    count = told if requests is None else requests
    return PeerWork(count, min(streaming, count), left, pending, context)


def warning(key: str, bulletins: Mapping[str, Bulletin]) -> str:
    """What another gateway found out against a backend, "" if none did."""
    for name, bulletin in bulletins.items():
        at = bulletin.backends.get(key)
        if at is not None and at.verdict:
            return f"gateway {name} found: {at.verdict[:_MOST_CHARS]}"
    return ""


def best_lesson(
    key: str, bulletins: Iterable[Bulletin]
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """The decode line and the prompt speed of whoever has seen the most; None if nobody has."""
    step: tuple[float, float, float] | None = None
    prompt: tuple[float, float, int] | None = None
    for bulletin in bulletins:
        at = bulletin.backends.get(key)
        if at is None:
            continue
        if at.step is not None and (step is None or at.step[2] > step[2]):
            step = at.step
        if at.prompt is not None and (prompt is None or at.prompt[2] > prompt[2]):
            prompt = at.prompt
    return (
        None if step is None or min(step[:2]) < 0 or step[0] <= 0 else step[:2],
        None if prompt is None or min(prompt[:2]) <= 0 else prompt[:2],
    )


def newest_figures(key: str, bulletins: Iterable[Bulletin]) -> tuple[Activity, float] | None:
    """What was read last of an engine's metrics, and how many seconds ago; None without any."""
    found = (one.backends.get(key) for one in bulletins)
    told = [at.figures for at in found if at is not None and at.figures is not None]
    return min(told, key=lambda one: one[1], default=None)


def _at(live: LiveBackend, now: float, read: tuple[Activity, float] | None) -> AtBackend:
    own = live.work.own_load(now)
    verdict = ""
    if live.health.judged is State.DOWN or live.breaker.openings:
        verdict = live.reason[:_MOST_CHARS]
    decode, prefill = live.work.decode, live.work.prefill
    return AtBackend(
        own.running,
        own.streaming,
        round(own.left_tokens, 1),
        round(own.pending_s, 4),
        round(own.context_tokens, 1),
        verdict,
        decode.lesson,
        prefill.lesson,
        None if read is None else (read[0], round(max(0.0, now - read[1]), 3)),
    )
