"""What operators ask of a running gateway, over real files."""

import os
import shutil
from pathlib import Path

import pytest

from gateway.clock import Clock
from gateway.config.codes import Code
from gateway.config.load import load_text
from gateway.config.schema import RoutingConfig
from gateway.fleet.change import Change
from gateway.fleet.health.machine import State
from gateway.fleet.lease import Lease
from gateway.fleet.registry import Registry
from gateway.store.drains import Drains
from gateway.store.history import History
from gateway.words import Words
from gateway.workers.controls import Controls
from gateway.workers.reloading import Reloader, Unusable

GOOD = """
version: 1
backends:
  - {name: a, url: "http://h:1", served_name: m, capture_sizes: [1, 4], max_num_seqs: 4}
  - {name: b, url: "http://h:2", served_name: m, capture_sizes: [1, 4], max_num_seqs: 4}
models: [{name: m1, backends: [a, b]}]
# with a comment
"""
OTHER = "".join(line for line in GOOD.splitlines(keepends=True) if "name: b" not in line).replace(
    "backends: [a, b]", "backends: [a]"
)


class Desk:
    """The controls of a gateway that is not there."""

    def __init__(self, folder: Path, *, has_state: bool = True) -> None:
        self.file = folder / "etc" / "routing.yaml"
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text(GOOD)
        loaded = load_text(GOOD, "r.yaml")
        assert loaded.config is not None
        self.version = loaded.version_hash
        self.fleet = Registry(loaded.config, loaded.version_hash, 0.0)
        self.told: list[Change] = []
        self.results: list[str] = []
        self.looks = 0
        self.unusable: Unusable | None = None
        state = folder / "state" if has_state else None
        clock = Clock(lambda: 0.0, lambda: 1000.0)
        self.history = History(state)
        self.reloader = Reloader(
            self.file,
            loaded.config,
            loaded.version_hash,
            put=self._put,
            kept=self._keep,
            told=lambda result: self.results.append(result.result),
            clock=clock,
        )
        self.controls = Controls(
            self.fleet,
            self.reloader,
            self.history,
            Drains(state),
            waiting=lambda model: 3,
            tell=self.told.extend,
            look=self._look,
            clock=clock,
        )

    async def _put(self, config: RoutingConfig, version: str) -> tuple[Words, ...]:
        if self.unusable is not None:
            raise self.unusable
        self.fleet.apply(config, version, 0.0)
        return ()

    async def _keep(self, data: bytes, version: str, who: str) -> None:
        self.history.add(data.decode(), version, who, 1000.0)

    def _look(self) -> None:
        self.looks += 1

    async def change(self, text: str) -> str:
        self.file.write_text(text)
        return (await self.controls.reload("me")).version


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_preview_changes_nothing_and_says_what_would(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with Lease(desk.fleet.backends["b"]):
        seen = await desk.controls.preview(OTHER, "other.yaml")
    assert seen.is_usable
    assert "m1 loses backend b: 1 request will drain" in [told.en for told in seen.changes]
    assert desk.fleet.version == desk.version
    bad = await desk.controls.preview("version: 1", "bad.yaml")
    assert (bad.is_usable, bad.changes) == (False, ())
    assert bad.problems


async def test_back_to_the_text_before_with_its_comments(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.controls.reload("start")
    second = await desk.change(OTHER)
    back = await desk.controls.rollback(None, "me")
    assert back is not None
    assert (back.result, back.version, back.note) == ("applied", desk.version, None)
    assert desk.file.read_text() == GOOD
    assert back.who == f"me, back to {desk.version}"
    forth = await desk.controls.rollback(second, "me")
    assert forth is not None
    assert forth.version == second
    assert await desk.controls.rollback("no such", "me") is None


async def test_nothing_to_go_back_to(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.controls.reload("start")
    assert await desk.controls.rollback(None, "me") is None


async def test_a_link_stays_a_link_and_rights_stay(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    real = tmp_path / "real.yaml"
    desk.file.rename(real)
    real.chmod(0o640)
    owner = (1234, 2345) if os.geteuid() == 0 else (os.getuid(), os.getgid())
    os.chown(real, *owner)
    desk.file.symlink_to(real)
    await desk.controls.reload("start")
    await desk.change(OTHER)
    await desk.controls.rollback(None, "me")
    assert desk.file.is_symlink()
    assert real.read_text() == GOOD
    assert real.stat().st_mode & 0o777 == 0o640
    assert (real.stat().st_uid, real.stat().st_gid) == owner
    assert names_in(tmp_path) == ["etc", "real.yaml", "state"]


async def test_a_version_that_can_not_be_used_any_more_is_not_written(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.controls.reload("start")
    second = await desk.change(OTHER)
    desk.unusable = Unusable(
        Code.TLS_FILES_UNUSABLE, "backends[0].tls", Words("no", "不"), Words("mend", "改")
    )
    back = await desk.controls.rollback(None, "me")
    assert back is not None
    assert (back.result, back.version, back.note) == ("refused", second, None)
    assert desk.file.read_text() == OTHER
    assert not desk.reloader.status.is_refused


async def test_a_rollback_ends_that_the_file_is_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.controls.reload("start")
    await desk.change(OTHER)
    await desk.change("version: 1")
    assert desk.reloader.status.is_refused
    back = await desk.controls.rollback(None, "me")
    assert back is not None
    assert (back.result, desk.reloader.status.is_refused) == ("applied", False)
    assert desk.file.read_text() == GOOD
    assert await desk.reloader.look("file") is None
    await desk.change("version: 1")
    back = await desk.controls.rollback(desk.version, "me")
    assert back is not None
    assert (back.result, desk.reloader.status.is_refused) == ("unchanged", False)
    assert desk.results == ["applied", "refused", "applied", "refused", "unchanged"]


async def test_where_the_file_cannot_be_written_the_memory_goes_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.controls.reload("start")
    await desk.change(OTHER)
    shutil.rmtree(desk.file.parent)
    back = await desk.controls.rollback(None, "me")
    assert back is not None
    assert (back.result, back.version) == ("applied", desk.version)
    assert back.note is not None
    assert "could not be written" in back.note.en
    assert desk.fleet.version == desk.version


async def test_a_drain_and_its_end(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    a = desk.fleet.backends["a"]
    with Lease(a):
        state = await desk.controls.drain("a", "new memory", "admin x")
        assert state is not None
        assert (state.is_draining, state.in_flight, state.waiting) == (True, 1, 3)
        assert (state.note, a.state) == (None, State.DRAINING)
        assert a.reason == "taken out by admin x: new memory"
    assert desk.controls.draining("a") == state.__class__("a", 0, 3, True)
    back = await desk.controls.undrain("a", "admin x")
    assert back is not None
    assert (back.is_draining, desk.looks) == (False, 1)
    assert [(c.backend, c.after) for c in desk.told] == [("a", "draining"), ("a", "unknown")]


async def test_a_drain_outlives_the_gateway(tmp_path: Path) -> None:
    await Desk(tmp_path).controls.drain("a", "", "me")
    desk = Desk(tmp_path)
    assert desk.controls.drain_reason("a") is None
    await desk.controls.load()
    assert desk.controls.drain_reason("a") == "taken out by me"
    await desk.controls.undrain("a", "me")
    desk = Desk(tmp_path)
    await desk.controls.load()
    assert desk.controls.drain_reason("a") is None


async def test_without_a_folder_a_drain_says_that_it_will_be_forgotten(tmp_path: Path) -> None:
    state = await Desk(tmp_path, has_state=False).controls.drain("a", "", "me")
    assert state is not None
    assert state.note is not None
    assert "restart" in state.note.en


@pytest.mark.parametrize("what", ["drain", "undrain", "draining"])
async def test_an_unknown_backend(tmp_path: Path, what: str) -> None:
    controls = Desk(tmp_path).controls
    if what == "drain":
        assert await controls.drain("nobody", "", "me") is None
    elif what == "undrain":
        assert await controls.undrain("nobody", "me") is None
    else:
        assert controls.draining("nobody") is None


async def test_what_else_is_read_again_may_fail_without_harm(tmp_path: Path) -> None:
    desk = Desk(tmp_path)

    def broken() -> None:
        raise ValueError("cert.pem is not the certificate of key.pem")

    desk.controls.also_reload(broken)
    result = await desk.controls.reload("me")
    assert result.result == "unchanged"
    assert result.note is not None
    assert "cert.pem" in result.note.en


async def test_a_drain_follows_its_server_to_another_name(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.controls.drain("a", "memory", "me")
    assert not desk.controls.rename({"b": "c"})
    assert desk.controls.rename({"a": "b", "b": "a"})
    await desk.controls.save()
    later = Desk(tmp_path)
    assert await later.controls.load() is None
    assert later.controls.drain_reason("a") is None
    assert later.controls.drain_reason("b") == "taken out by me: memory"


async def test_drains_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "drains.json").write_text("no json")
    trouble = await desk.controls.load()
    assert trouble is not None
    assert "drains.json" in trouble.en
