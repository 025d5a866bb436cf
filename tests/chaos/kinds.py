"""The kinds of faults: how each begins, how it is repaired, and what must be noticed of it."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from tests.chaos.backend import BackendProcess

Begin = Callable[[BackendProcess, random.Random], Awaitable[None]]
Repair = Callable[[BackendProcess], Awaitable[None]]

CHAT_PATH: Final = "/v1/chat/completions"
TEXT_PATH: Final = "/v1/completions"
_ENGINE_DEATH_S: Final = 0.1
_ENGINE_RESTART_S: Final = 3.0


class Notice(StrEnum):
    """Whether /health of the gateway must show that something is wrong with the backend."""

    MUST = "must"
    MAY = "may"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault."""

    name: str
    begin: Begin
    repair: Repair
    notice: Notice
    is_on_eager_too: bool = False
    """Also makes sense at a backend that gets few requests."""
    strikes: int | None = None
    """How many requests it strikes; None: all until it is repaired."""
    settle_s: float = 30.0
    """How long a request that a counted fault struck is waited for."""
    repairs_itself_s: float | None = None
    """The backend comes back by itself after this."""
    is_disabling: bool = True
    """The backend is no longer capable while it lasts."""


async def _nothing(backend: BackendProcess) -> None:
    """Nothing is left to repair."""
    await backend.until_serving()


async def _clear(backend: BackendProcess) -> None:
    await backend.clear()


async def _start(backend: BackendProcess) -> None:
    await backend.start()


async def _start_again(backend: BackendProcess) -> None:
    backend.kill()
    await backend.start()


async def _kill(backend: BackendProcess, _: random.Random) -> None:
    backend.kill()


async def _terminate(backend: BackendProcess, _: random.Random) -> None:
    await backend.terminate()


async def _freeze(backend: BackendProcess, _: random.Random) -> None:
    backend.freeze()


async def _thaw(backend: BackendProcess) -> None:
    backend.thaw()


async def _abort(backend: BackendProcess, _: random.Random) -> None:
    """SIGTERM as an engine takes it that ends its requests with `abort`; then the process ends."""
    await backend.fault("sigterm_abort")
    await asyncio.sleep(0.3)
    backend.kill()


async def _die(backend: BackendProcess, _: random.Random) -> None:
    await backend.fault("engine_dead", delay_s=_ENGINE_DEATH_S, restart_after_s=_ENGINE_RESTART_S)


async def _crash(backend: BackendProcess, _: random.Random) -> None:
    """Each time it comes back, the first inference kills it again."""
    await backend.fault("crash_at_first_inference", restart_after_s=1.0)


async def _make_eager(backend: BackendProcess, _: random.Random) -> None:
    backend.kill()
    await backend.start(is_eager=True)


def _lasting(name: str, **fields: object) -> Begin:
    async def begin(backend: BackendProcess, _: random.Random) -> None:
        await backend.fault(name, **fields)

    return begin


def _counted(name: str, late: int, early: int) -> Begin:
    """Strikes `late` answers in the middle at one endpoint, `early` at their start at the other.

    An early one also strikes answers that are not streamed, which are cut in half.
    """

    async def begin(backend: BackendProcess, rng: random.Random) -> None:
        one, other = rng.sample((CHAT_PATH, TEXT_PATH), 2)
        after = rng.randint(2, 35)
        await backend.fault(name, after_events=after, count=late, paths=[one])
        await backend.fault(name, after_events=rng.choice((0, 1)), count=early, paths=[other])

    return begin


def _cutting(name: str, late: int = 3, early: int = 2, settle_s: float = 30.0) -> Kind:
    begin = _counted(name, late, early)
    return Kind(name, begin, _clear, Notice.MAY, strikes=late + early, settle_s=settle_s)


_ALL: Final = (
    Kind("kill9", _kill, _start, Notice.MUST, is_on_eager_too=True),
    Kind("sigstop", _freeze, _thaw, Notice.MUST, is_on_eager_too=True),
    Kind("sigterm", _terminate, _start, Notice.MUST, is_on_eager_too=True),
    Kind("sigterm_abort", _abort, _start, Notice.MUST),
    Kind("hang", _lasting("hang"), _clear, Notice.MUST),
    _cutting("cut_rst"),
    _cutting("cut_fin"),
    _cutting("cut_clean"),
    # Noticed by the limit between two events, which the routing file of the drill sets to 5 s.
    _cutting("stall", 2, 1, settle_s=20.0),
    _cutting("malformed_event"),
    Kind(
        "engine_dead",
        _die,
        _nothing,
        Notice.MUST,
        repairs_itself_s=_ENGINE_DEATH_S + _ENGINE_RESTART_S,
    ),
    Kind("crash_at_first_inference", _crash, _start_again, Notice.MUST),
    Kind("reset", _lasting("reset"), _clear, Notice.MAY),
    Kind("status_500", _lasting("status_500"), _clear, Notice.MAY),
    Kind("status_429", _lasting("status_429", retry_after_s=1), _clear, Notice.MAY),
    Kind("status_503", _lasting("status_503"), _clear, Notice.MAY),
    Kind("made_eager", _make_eager, _start_again, Notice.MUST),
    Kind(
        "refuse_prefill",
        _lasting("refuse_prefill"),
        _clear,
        Notice.MAY,
        is_on_eager_too=True,
        is_disabling=False,
    ),
)

KINDS: Final[Mapping[str, Kind]] = MappingProxyType({kind.name: kind for kind in _ALL})
