"""Following what was decided elsewhere: what is taken over, what is over, what is told again."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from gateway.store.drains import Drain
from gateway.store.memory import MemoryStore
from gateway.store.shared import Exchange, Published, StoreError
from gateway.workers.following import Following, as_told
from gateway.workers.results import Applied

DRAIN = Drain("ana", "new driver", 5.0)


class Told(MemoryStore):
    """A store that has what a test put there."""

    def __init__(self, config: Published | None = None) -> None:
        self.config = config
        self.drained: dict[str, bytes] = {}
        self.is_silent = False

    async def published(self) -> Published | None:
        return self.config

    async def drains(self) -> Mapping[str, bytes]:
        return self.drained

    async def set_drain(self, backend: str, told: bytes | None) -> None:
        if self.is_silent:
            raise StoreError("no answer")
        if told is None:
            self.drained.pop(backend, None)
        else:
            self.drained[backend] = told


class Here:
    """The gateway that follows."""

    def __init__(self, file_s: float = 0.0, refuses: bool = False) -> None:
        self.file_s = file_s
        self.refuses = refuses
        self.drained: dict[str, Drain] = {}
        self.took: list[str] = []

    def taken_out(self) -> Mapping[str, Drain]:
        return self.drained

    async def take_drains(self, drains: Mapping[str, Drain]) -> None:
        self.drained = dict(drains)

    async def file_time_s(self) -> float:
        return self.file_s

    async def take_published(self, config: Published) -> Applied:
        self.took.append(config.version)
        return Applied("refused" if self.refuses else "applied", config.version, config.who)


def told(drains: str = "", config: str = "") -> Exchange:
    return Exchange(MappingProxyType({}), MappingProxyType({}), drains, config)


@pytest.mark.parametrize(
    ("file_s", "taken"),
    [
        pytest.param(90.0, ["v1"], id="published after the file was written"),
        pytest.param(110.0, [], id="the file was written since"),
        pytest.param(0.0, ["v1"], id="no file"),
    ],
)
async def test_who_starts_takes_what_is_newer_than_its_file(
    file_s: float, taken: list[str]
) -> None:
    here = Here(file_s)
    following = Following(Told(Published("v1", "text", "ana", 100.0)), here)
    await following.follow(told(config="v1"))
    await following.follow(told(config="v1"))
    assert here.took == taken


async def test_who_runs_takes_what_is_published_whatever_its_clock_says() -> None:
    here, store = Here(file_s=200.0), Told()
    following = Following(store, here)
    await following.follow(told())
    store.config = Published("v2", "text", "ana", 100.0)
    await following.follow(told(config="v2"))
    assert here.took == ["v2"]


async def test_a_file_that_cannot_be_used_is_told_until_another_one_can() -> None:
    here, store = Here(refuses=True), Told(Published("v1", "text", "ana", 100.0))
    following = Following(store, here)
    await following.follow(told(config="v1"))
    assert following.refused == "v1"
    here.refuses, store.config = False, Published("v2", "text", "ana", 101.0)
    await following.follow(told(config="v2"))
    assert (following.refused, here.took) == ("", ["v1", "v2"])


async def test_a_store_that_forgot_the_drains_is_told_them_again() -> None:
    here, store = Here(), Told()
    here.drained = {"b1": DRAIN}
    await Following(store, here).follow(told())
    assert store.drained == {"b1": as_told(DRAIN)}


async def test_a_drain_that_could_not_be_told_is_told_later() -> None:
    store = Told()
    following = Following(store, Here())
    store.is_silent = True
    assert not await following.tell_drain("b1", DRAIN)
    store.is_silent = False
    await following.follow(told(drains="1"))
    assert store.drained == {"b1": as_told(DRAIN)}


async def test_what_cannot_be_read_of_a_drain_leaves_the_backend_out() -> None:
    here, store = Here(), Told()
    store.drained = {"b1": b"\xff", "b2": b"[1]", "b3": as_told(DRAIN)}
    await Following(store, here).follow(told(drains="1"))
    assert set(here.drained) == {"b1", "b2", "b3"}
    assert here.drained["b3"] == DRAIN
