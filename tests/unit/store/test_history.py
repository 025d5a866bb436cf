"""The kept routing files: order, bounds, and folders in every bad state."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from gateway.store.history import MAX_TEXT_BYTES, Entry, History

VERSIONS = ("aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddddddddd")
A, B, C, D = VERSIONS


def text(version: str) -> str:
    return f"# 注释 {version}\r\nversion: 1\n"


def filled(folder: Path | None, *versions: str, limit: int = 50) -> History:
    history = History(folder, limit)
    for version in versions:
        history.add(text(version), version, f"admin {version[0]}", 1_700_000_000.5)
        assert history.trouble is None
    return history


def kept(history: History) -> list[tuple[int, str]]:
    return [(entry.number, entry.version) for entry in history.entries()]


def stored(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix == ".yaml")


@pytest.fixture(params=[True, False], ids=["in a folder", "in memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "history" if request.param else None


def test_what_was_added_is_there(folder: Path | None) -> None:
    history = filled(folder, A, B)
    size_bytes = len(text(A).encode())
    assert history.entries() == (
        Entry(1, A, "admin a", 1_700_000_000.5, size_bytes),
        Entry(2, B, "admin b", 1_700_000_000.5, size_bytes),
    )
    assert [history.text_of(version) for version in (A, B, C)] == [text(A), text(B), None]


def test_the_version_of_the_last_is_not_kept_again(folder: Path | None) -> None:
    history = filled(folder, A, A, B, A, A)
    assert kept(history) == [(1, A), (2, B), (3, A)]


def test_only_the_last_are_kept(folder: Path | None) -> None:
    history = filled(folder, A, B, C, D, limit=2)
    assert kept(history) == [(3, C), (4, D)]
    assert history.text_of(A) is None
    if folder is not None:
        assert stored(folder) == [f"000003-{C}.yaml", f"000004-{D}.yaml"]


def test_by_number_or_by_version(folder: Path | None) -> None:
    history = filled(folder, A, B)
    history.add("another text of a", A, "x", 1.0)
    assert (
        history.text_of(A) == history.text_of("3") == history.text_of("#3") == "another text of a"
    )
    assert history.text_of("1") == text(A)
    for key in ("0", "4", "-1", "", "#", "²", "9" * 5000, "../index.json", "aaaa"):
        assert history.text_of(key) is None


def test_a_text_without_bound_is_not_kept(folder: Path | None) -> None:
    history = filled(folder, A)
    history.add("x" * (MAX_TEXT_BYTES + 1), B, "x", 1.0)
    assert history.trouble is not None
    assert "4194305 bytes" in history.trouble.en
    assert kept(history) == [(1, A)]


def test_memory_is_bounded() -> None:
    history = History(None)
    for number in range(6):
        history.add(str(number) * MAX_TEXT_BYTES, VERSIONS[number % 2], "x", 1.0)
    assert [entry.number for entry in history.entries()] == [3, 4, 5, 6]


def test_it_is_there_after_a_restart(tmp_path: Path) -> None:
    filled(tmp_path, A, B)
    history = filled(tmp_path, B, C)
    assert kept(history) == [(1, A), (2, B), (3, C)]
    assert history.text_of(A) == text(A)


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "history"
    filled(folder, A)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def garbage(folder: Path) -> None:
    (folder / "index.json").write_bytes(b"\xff{")


def deep(folder: Path) -> None:
    (folder / "index.json").write_text("[" * 100_000)


def other_format(folder: Path) -> None:
    (folder / "index.json").write_text('{"format": 2, "entries": []}')


def no_list(folder: Path) -> None:
    (folder / "index.json").write_text('{"format": 1, "entries": {}}')


def gone(folder: Path) -> None:
    (folder / "index.json").unlink()


def a_folder(folder: Path) -> None:
    (folder / "index.json").unlink()
    (folder / "index.json").mkdir()


def a_pipe(folder: Path) -> None:
    (folder / "index.json").unlink()
    os.mkfifo(folder / "index.json")


@pytest.mark.parametrize("harm", [garbage, deep, other_format, no_list, gone, a_folder, a_pipe])
def test_without_an_index_the_files_themselves_count(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    filled(tmp_path, A, B)
    os.utime(tmp_path / f"000001-{A}.yaml", (5.0, 5.0))
    harm(tmp_path)
    history = History(tmp_path)
    assert kept(history) == [(1, A), (2, B)]
    assert (history.entries()[0].who, history.entries()[0].when_s) == ("", 5.0)
    assert history.text_of(A) == text(A)
    history.add(text(C), C, "x", 1.0)
    assert kept(history) == [(1, A), (2, B), (3, C)]
    assert (history.trouble is None) == (harm is not a_folder)


@pytest.mark.parametrize(
    "item",
    [
        None,
        "x",
        {},
        {"number": True},
        {"number": -1},
        {"number": 10**12},
        {"version": "../../etc/passwd"},
        {"version": 7},
        {"who": None},
        {"when_s": "now"},
        {"size_bytes": 1.5},
        {"size_bytes": 3},
        {"number": 7},
    ],
)
def test_a_damaged_entry_is_passed_over(tmp_path: Path, item: object) -> None:
    filled(tmp_path, A, B)
    index = json.loads((tmp_path / "index.json").read_text())
    damaged = {**index["entries"][0], **item} if isinstance(item, dict) and item else item
    index["entries"][0] = damaged
    (tmp_path / "index.json").write_text(json.dumps(index))
    assert kept(History(tmp_path)) == [(2, B)]


def test_a_damaged_text_is_not_given_out(tmp_path: Path) -> None:
    history = filled(tmp_path, A, B, A)
    file = tmp_path / f"000003-{A}.yaml"
    file.write_bytes(file.read_bytes().replace(b"1", b"2"))
    assert history.text_of("3") is None
    assert history.text_of(A) == text(A), "the older file of that version is as good"
    file.write_bytes(b"short")
    assert kept(history) == [(1, A), (2, B)]
    (tmp_path / f"000002-{B}.yaml").unlink()
    assert kept(history) == [(1, A)]


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    foreign = ["routes.yaml", "000001-a.b.yaml", "1-abc.yaml", "notes", "000009-mine.yaml"]
    for name in foreign:
        (tmp_path / name).write_text("x")
    (tmp_path / f"000007-{D}.yaml").mkdir()
    (tmp_path / f"000008-{C}.yaml").symlink_to(tmp_path / "notes")
    (tmp_path / "index.json").write_text('{"format": 1, "entries": []}')
    history = filled(tmp_path, A, B, limit=1)
    assert kept(history) == [(2, B)]
    assert all((tmp_path / name).read_text() == "x" for name in foreign)
    assert (tmp_path / f"000008-{C}.yaml").is_symlink()


def test_a_folder_that_can_not_be_used_leaves_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        history = History(folder)
        for version in (A, B):
            history.add(text(version), version, "x", 1.0)
        assert history.trouble is not None
        assert str(folder) in history.trouble.en
        assert "内存" in history.trouble.zh
        assert kept(history) == [(1, A), (2, B)]
        assert history.text_of(A) == text(A)


def test_what_could_not_be_written_is_written_later(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    folder.write_text("in the way")
    history = History(folder)
    history.add(text(A), A, "x", 1.0)
    assert history.trouble is not None
    folder.unlink()
    other = filled(folder, B)
    assert kept(history) == [(1, B), (2, A)], "another process was first"
    history.add(text(C), C, "x", 1.0)
    assert history.trouble is None
    assert kept(history) == kept(other) == [(1, B), (2, A), (3, C)]
    assert other.text_of(A) == text(A)


@pytest.mark.parametrize("version", ["../x", "", "a" * 65, "a b"])
def test_a_version_that_is_no_name_stays_in_memory(tmp_path: Path, version: str) -> None:
    history = History(tmp_path / "history")
    history.add("x", version, "x", 1.0)
    assert history.trouble is not None
    assert [entry.version for entry in history.entries()] == [version]
    assert stored(tmp_path / "history") == []


def test_odd_values_do_no_harm(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add("\udc80", A, "x\ud800" * 500, 1.0)
    assert (history.trouble, len(history.entries()[0].who)) == (None, 200)
    history.add("y", B, "x", float("nan"))
    assert history.trouble is not None
    assert history.text_of(B) == "y"


def test_many_writers(tmp_path: Path) -> None:
    def write(name: str) -> None:
        history = History(tmp_path)
        for number in range(10):
            history.add(f"{name} {number}", f"{name}{number:011d}", name, 1.0)
            assert history.trouble is None

    threads = [Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    history = History(tmp_path)
    entries = history.entries()
    assert [entry.number for entry in entries] == list(range(1, 41))
    assert sorted(entry.version for entry in entries) == sorted(
        f"{name}{number:011d}" for name in "abcd" for number in range(10)
    )
    assert all(history.text_of(str(entry.number)) for entry in entries)


def test_a_change_of_comments_is_kept(folder: Path | None) -> None:
    history = filled(folder, A)
    history.add(text(A) + "# a comment\n", A, "x", 2.0)
    assert kept(history) == [(1, A), (2, A)]
    assert history.text_of(A) == text(A) + "# a comment\n"


def test_comments_of_the_same_length_are_told_apart(folder: Path | None) -> None:
    history = History(folder)
    for note in ("one", "two"):
        history.add(f"# {note}\n", A, "x", 2.0)
    assert kept(history) == [(1, A), (2, A)]
    assert [history.text_of(key) for key in (A, "1", "2")] == ["# two\n", "# one\n", "# two\n"]
