"""The halls on the edges where a place can be lost: races, and faults of others that wait."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from gateway.config.load import load_text
from gateway.errors import Refusal
from gateway.fleet.learning.characters import TextSize
from gateway.fleet.registry import Registry
from gateway.flow.call import Call
from gateway.flow.course import Course
from gateway.flow.demand import Demand
from gateway.flow.hold import Halls
from gateway.placement.lane import Lane
from gateway.placement.want import Kind
from gateway.protocol.endpoints import BY_PATH

ASKED = Demand(
    kind=Kind.GENERATE,
    size=TextSize(10, 10),
    blocks=(),
    media=frozenset(),
    limit_tokens=20,
    sequences=1,
    priority=0,
    conversation="",
    tier=None,
    is_stored=False,
    is_batch=False,
    is_stream=True,
    body_bytes=10,
)


class Stage:
    """One eager backend of one place, and the halls in front of it."""

    def __init__(self, *models: str, max_wait_s: float = 20.0) -> None:
        config: dict[str, Any] = {
            "version": 1,
            "queue": {"max_wait_s": max_wait_s},
            "backends": [
                {
                    "name": "u1",
                    "url": "http://127.0.0.1:1",
                    "served_name": "m",
                    "tier": "eager",
                    "max_num_seqs": 1,
                }
            ],
            "models": [{"name": name, "backends": ["u1"]} for name in models],
        }
        loaded = load_text(yaml.safe_dump(config), "r.yaml")
        assert loaded.config is not None, loaded.problems
        self.fleet = Registry(loaded.config, "v", time.monotonic())
        self.crashes: list[Exception] = []
        self.halls = Halls(self.fleet, time.monotonic, lambda: 0.5, self.crashes.append)
        self.backend = self.fleet.backends["u1"]

    def call(self, name: str, model: str = "m1") -> Call:
        endpoint = BY_PATH["/v1/chat/completions"]
        call = Call(endpoint, {"headers": []}, _no_send, (name, name), time.monotonic())
        call.model = self.fleet.names.models[model]
        return call

    async def stay(self, name: str, until: asyncio.Event, model: str = "m1") -> str:
        async with self.halls.place(self.call(name, model), ASKED, Course()):
            await until.wait()
        return name

    @property
    def taken(self) -> tuple[int, int]:
        return self.backend.in_flight, len(self.backend.work)


async def _no_send(message: Any) -> None:
    raise AssertionError(f"nothing is to be sent: {message}")


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_place_given_as_the_wait_ends_is_not_lost() -> None:
    """A busy loop sees the timer and the freed place in the same moment."""
    stage = Stage("m1", max_wait_s=0.3)
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    first = stage.halls.place(stage.call("r1"), ASKED, Course())
    slot = await first.__aenter__()
    second = asyncio.create_task(stage.stay("r2", done))
    await turns()
    loop.call_later(0.28, lambda: time.sleep(0.1))
    loop.call_later(0.29, slot.give_back)
    await asyncio.sleep(0.6)
    done.set()
    (told,) = await asyncio.gather(second, return_exceptions=True)
    assert told == "r2" or isinstance(told, Refusal)
    assert stage.taken == (0, 0)
    assert await asyncio.wait_for(stage.stay("r3", done), 5.0) == "r3"


def failing_for(name: str, options: Callable[..., Any]) -> Callable[..., Any]:
    def choose(lane: Lane, want: Any, *rest: Any) -> Any:
        if want.id == name:
            raise ZeroDivisionError(f"in the plan of {name}")
        return options(lane, want, *rest)

    return choose


async def test_a_fault_of_one_that_waits_does_not_end_one_that_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage, done = Stage("m1"), asyncio.Event()
    first = asyncio.create_task(stage.stay("r1", done))
    await turns()
    second = asyncio.create_task(stage.stay("r2", done))
    await turns()
    monkeypatch.setattr(Lane, "_options", failing_for("r2", Lane._options))
    done.set()
    assert await first == "r1"
    assert [str(error) for error in stage.crashes] == ["in the plan of r2"]
    assert stage.taken == (0, 0)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    assert stage.taken == (0, 0)
    assert stage.halls.waiting("m1") == 0


async def test_models_that_share_a_backend_take_turns() -> None:
    """Whoever has waited longest is next, whichever model comes first in the routing file."""
    stage, gates = Stage("m1", "m2"), [asyncio.Event() for _ in range(5)]
    order = [("a", "m1"), ("b", "m2"), ("c", "m1"), ("d", "m2"), ("e", "m1")]
    seen: list[str] = []

    async def one(at: int) -> None:
        name, model = order[at]
        async with stage.halls.place(stage.call(name, model), ASKED, Course()):
            seen.append(name)
            await gates[at].wait()

    tasks = []
    for at in range(5):
        tasks.append(asyncio.create_task(one(at)))
        await turns()
    for gate in gates:
        gate.set()
        await turns()
    await asyncio.gather(*tasks)
    assert seen == ["a", "b", "c", "d", "e"]


async def test_whoever_leaves_while_waiting_leaves_nothing_behind() -> None:
    stage, done = Stage("m1"), asyncio.Event()
    first = asyncio.create_task(stage.stay("r1", done))
    await turns()
    others = [asyncio.create_task(stage.stay(f"w{n}", done)) for n in range(10)]
    await turns()
    assert stage.halls.waiting("m1") == 10
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    assert (stage.halls.waiting("m1"), stage.taken) == (0, (1, 1))
    done.set()
    assert await first == "r1"
    assert stage.taken == (0, 0)
