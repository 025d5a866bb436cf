"""The backends that were taken out: kept over restarts, whatever is in the file."""

import json
import stat
from pathlib import Path
from threading import Thread

import pytest

from gateway.store.drains import Drain, Drains

TWO = {"27b-a": Drain("admin ops", "换卡", 1_700_000_000.0), "9b": Drain("", "", 0.0)}


@pytest.mark.parametrize("is_folder", [True, False])
def test_what_was_saved_is_loaded(tmp_path: Path, is_folder: bool) -> None:
    drains = Drains(tmp_path / "state" if is_folder else None)
    assert drains.load() == {}
    drains.save(TWO)
    assert (drains.load(), drains.trouble) == (TWO, None)
    drains.save({})
    assert drains.load() == {}


def test_a_restart(tmp_path: Path) -> None:
    Drains(tmp_path).save(TWO)
    assert Drains(tmp_path).load() == TWO
    assert stat.S_IMODE((tmp_path / "drains.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"format": 2, "drains": {}}', '{"format": 1}', "[" * 100_000]
)
def test_a_file_that_is_no_list(tmp_path: Path, text: str) -> None:
    (tmp_path / "drains.json").write_text(text)
    drains = Drains(tmp_path)
    assert drains.load() == {}
    assert drains.trouble is not None
    assert "drain them again" in drains.trouble.en
    assert "drain" in drains.trouble.zh
    drains.save(TWO)
    assert (drains.trouble, Drains(tmp_path).load()) == (None, TWO)


@pytest.mark.parametrize(
    ("item", "drain"),
    [
        (None, Drain("", "", 0.0)),
        ({}, Drain("", "", 0.0)),
        ({"who": 1, "reason": "r", "since_s": "x"}, Drain("", "r", 0.0)),
        ({"who": "w", "reason": "x" * 900, "since_s": 1e300}, Drain("w", "x" * 500, 0.0)),
        ({"who": "w", "reason": "", "since_s": 10**400}, Drain("w", "", 0.0)),
        ({"who": "w", "reason": "", "since_s": 5, "more": 1}, Drain("w", "", 5.0)),
    ],
)
def test_whoever_is_named_stays_out(tmp_path: Path, item: object, drain: Drain) -> None:
    (tmp_path / "drains.json").write_text(json.dumps({"format": 1, "drains": {"a": item}}))
    assert Drains(tmp_path).load() == {"a": drain}


def test_it_is_bounded(tmp_path: Path) -> None:
    many = {f"b{number}": Drain("w" * 900, "", 1.0) for number in range(10_001)}
    drains = Drains(None)
    drains.save(many)
    assert len(drains.load()) == 10_000
    assert {len(drain.who) for drain in drains.load().values()} == {500}


def test_a_folder_that_can_not_be_used_leaves_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    drains = Drains(tmp_path / "file")
    assert drains.load() == {}
    assert drains.trouble is not None
    drains.save(TWO)
    assert drains.trouble is not None
    assert "a restart will put them back" in drains.trouble.en
    assert drains.load() == TWO


def test_odd_values_do_no_harm(tmp_path: Path) -> None:
    drains = Drains(tmp_path)
    drains.save({"a": Drain("\ud800", "", float("inf"))})
    assert drains.trouble is not None
    assert drains.load() == {"a": Drain("\ud800", "", float("inf"))}
    drains.save({"a": Drain("\ud800", "", 1.0)})
    assert drains.trouble is None
    assert drains.load() == {"a": Drain("?", "", 1.0)}


def test_two_gateways_that_share_a_folder_keep_what_the_other_took_out(tmp_path: Path) -> None:
    one, other = Drains(tmp_path), Drains(tmp_path)
    assert (one.load(), other.load()) == ({}, {})
    a, b = Drain("one", "", 1.0), Drain("other", "", 2.0)
    one.save({"a": a})
    other.save({"b": b})
    assert Drains(tmp_path).load() == {"a": a, "b": b}
    one.save({})
    assert Drains(tmp_path).load() == {"b": b}
    other.save({})
    assert Drains(tmp_path).load() == {}


def test_many_writers_leave_one_whole_file(tmp_path: Path) -> None:
    def write(name: str) -> None:
        drains = Drains(tmp_path)
        for number in range(20):
            drains.save({name: Drain(name, "x" * number, 1.0)})

    threads = [Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert Drains(tmp_path).load() == {name: Drain(name, "x" * 19, 1.0) for name in "abcd"}
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "drains.json"]
