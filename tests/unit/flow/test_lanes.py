"""Those that wait keep their places through a change of the routing file."""

import asyncio
import time
from typing import Any

import pytest
import yaml

from gateway.config.load import load_text
from gateway.config.schema import RoutingConfig
from gateway.errors import Refusal
from gateway.fleet.health.evidence import DrainBegun
from gateway.fleet.lease import Lease
from gateway.fleet.live import LiveBackend
from gateway.fleet.registry import Registry
from gateway.flow.answer import Failed
from gateway.flow.call import Call
from gateway.flow.course import Course
from gateway.flow.hold import Halls
from gateway.flow.no_place import NothingLeft
from gateway.flow.slot import Slot
from gateway.protocol.endpoints import BY_PATH
from gateway.recovery.classify import Failure, Kind
from tests.unit.flow.test_hold import ASKED, turns


def config(backends: dict[str, str], models: dict[str, list[Any]], **top: Any) -> RoutingConfig:
    tree = {
        "version": 1,
        "backends": [
            {"name": n, "url": url, "served_name": "m", "tier": "eager", "max_num_seqs": 1}
            for n, url in backends.items()
        ],
        "models": [{"name": n, "backends": members} for n, members in models.items()],
        **top,
    }
    loaded = load_text(yaml.safe_dump(tree), "r.yaml")
    assert loaded.config is not None, loaded.render()
    return loaded.config


U1, U2 = "http://h:1", "http://h:2"
ONE = config({"u1": U1}, {"m1": ["u1"]})


class Stage:
    """One backend that is taken, and a request that waits for it."""

    def __init__(self) -> None:
        self.fleet = Registry(ONE, "v1", time.monotonic())
        self.freed: list[LiveBackend] = []
        self.halls = Halls(self.fleet, time.monotonic, lambda: 0.5, _raise, self.freed.append)

    def call(self, name: str) -> Call:
        endpoint = BY_PATH["/v1/chat/completions"]
        call = Call(endpoint, {"headers": []}, _no_send, (name, name), time.monotonic())
        call.model = self.fleet.names.models["m1"]
        return call

    async def stay(self, name: str, until: asyncio.Event, course: Course | None = None) -> str:
        """Waits for a place and keeps it; returns where it was."""
        async with self.halls.place(self.call(name), ASKED, course or Course()) as slot:
            await until.wait()
            return slot.live.config.url

    async def begin(self) -> tuple["asyncio.Task[str]", "asyncio.Task[str]", asyncio.Event]:
        """One request at the backend and one that waits, both until the event."""
        done = asyncio.Event()
        first = asyncio.create_task(self.stay("first", done))
        await turns()
        second = asyncio.create_task(self.stay("second", done))
        await turns()
        assert self.halls.waiting("m1") == 1
        return first, second, done

    def apply(self, new: RoutingConfig) -> None:
        self.fleet.apply(new, "v2", time.monotonic())
        self.halls.apply()


def _raise(error: Exception) -> None:
    raise error


async def _no_send(message: Any) -> None:
    raise AssertionError(f"nothing is to be sent: {message}")


async def test_who_waits_goes_to_a_backend_that_came() -> None:
    stage = Stage()
    first, second, done = await stage.begin()
    stage.apply(config({"u1": U1, "u2": U2}, {"m1": ["u1", "u2"]}))
    await turns()
    assert stage.halls.waiting("m1") == 0
    done.set()
    assert (await first, await second) == (U1, U2)


async def test_who_waits_goes_where_its_model_moved() -> None:
    stage = Stage()
    first, second, done = await stage.begin()
    old = stage.fleet.backends["u1"]
    stage.apply(config({"u1": U2}, {"m1": ["u1"]}))
    await turns()
    assert old.in_flight == 1
    done.set()
    assert (await first, await second) == (U1, U2)
    assert old in stage.freed


async def test_who_waits_for_a_model_that_is_gone_is_served_by_what_is_left_of_it() -> None:
    stage = Stage()
    first, second, done = await stage.begin()
    stage.apply(config({"u1": U1}, {"m2": ["u1"]}))
    await turns()
    assert stage.halls.waiting("m1") == 1
    assert not second.done()
    done.set()
    assert (await first, await second) == (U1, U1)
    assert stage.halls.waiting("m1") == 0
    assert "m1" not in repr(stage.halls)


async def test_nothing_is_left_of_a_model_whose_backends_are_gone_too() -> None:
    stage = Stage()
    first, second, done = await stage.begin()
    stage.apply(config({"u2": U2}, {"m2": ["u2"]}))
    with pytest.raises(NothingLeft):
        await asyncio.wait_for(second, 5.0)
    assert stage.halls.waiting("m1") == 0
    done.set()
    assert await first == U1


async def test_a_shorter_line_sends_nobody_away_who_is_in_it() -> None:
    stage = Stage()
    first, second, done = await stage.begin()
    stage.apply(config({"u1": U1}, {"m1": ["u1"]}, queue={"max_requests": 0}))
    with pytest.raises(Refusal):
        await asyncio.wait_for(stage.stay("third", done), 5.0)
    assert stage.halls.waiting("m1") == 1
    done.set()
    assert (await first, await second) == (U1, U1)


async def test_prefixes_stay_with_the_server_and_not_with_its_name() -> None:
    stage = Stage()
    lanes = stage.halls.lanes
    index = lanes.index("u1")
    stage.apply(config({"renamed": U1, "u1": U2}, {"m1": ["renamed", "u1"]}))
    assert lanes.index("renamed") is index
    assert lanes.index("u1") is not index


def failed(stage: Stage, name: str) -> Course:
    """The course of a request that was at this backend, and failed there."""
    course, live = Course(), stage.fleet.backends[name]
    model, facts = stage.fleet.names.models["m1"], live.view("m", time.monotonic()).facts
    lessons = stage.fleet.lessons_of("m1")
    slot = Slot(model, facts, Lease(live), None, lessons, time.monotonic, stage.freed.append)
    course.note(slot, Failed(Failure(Kind.CUT, "cut", may_have_run=True)))
    return course


async def test_who_waits_again_may_go_to_what_has_the_name_of_one_that_failed() -> None:
    """The only backend is full, the other one failed before; then that one moves."""
    stage = Stage()
    stage.apply(config({"u1": U1, "u2": U2}, {"m1": ["u1", "u2"]}))
    course, done = failed(stage, "u2"), asyncio.Event()
    first = asyncio.create_task(stage.stay("first", done, failed(stage, "u2")))
    await turns()
    second = asyncio.create_task(stage.stay("second", done, course))
    await turns()
    assert stage.halls.waiting("m1") == 1
    stage.apply(config({"u2": "http://h:3"}, {"m1": ["u2"]}))
    await turns()
    done.set()
    assert (await first, await second) == (U1, "http://h:3")


async def test_one_that_failed_is_known_under_its_new_name() -> None:
    stage = Stage()
    stage.apply(config({"u1": U1, "u2": U2}, {"m1": ["u1", "u2"]}))
    course = failed(stage, "u1")
    stage.apply(config({"u2": U1, "u1": U2}, {"m1": ["u1", "u2"]}))
    done = asyncio.Event()
    done.set()
    assert await stage.stay("again", done, course) == U2
    assert course.tried == ["u2"]


async def test_nobody_is_asked_again_where_an_operator_took_it_out() -> None:
    stage = Stage()
    course = failed(stage, "u1")
    course.again = course.last
    stage.fleet.backends["u1"].observe(DrainBegun("new memory"), time.monotonic())
    done = asyncio.Event()
    done.set()
    with pytest.raises(NothingLeft):
        await stage.stay("again", done, course)


async def test_whoever_asks_again_asks_as_the_file_says_now() -> None:
    stage = Stage()
    course = failed(stage, "u1")
    course.again = course.last
    one = {"backend": "u1", "served_name": "other"}
    stage.apply(config({"u1": U1}, {"m1": [one]}))
    async with stage.halls.place(stage.call("again"), ASKED, course) as slot:
        assert slot.backend.served_name == "other"
        assert slot.model is stage.fleet.names.models["m1"]


async def test_models_that_come_and_go_leave_nothing_behind() -> None:
    stage = Stage()
    for number in range(50):
        stage.apply(config({f"u{number}": U1}, {f"m{number}": [f"u{number}"]}))
    assert len(stage.halls.lanes._lanes) == 1
    assert len(stage.halls.lanes._indexes) == 1
