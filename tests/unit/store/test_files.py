"""Files that are written whole or not at all."""

import os
import stat
from pathlib import Path
from threading import Barrier, Thread

import pytest

from gateway.store.files import (
    clear_abandoned,
    folder_lock,
    make_folder,
    read_within,
    write_whole,
)


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "f"
    write_whole(file, b"one")
    write_whole(file, b"two")
    assert file.read_bytes() == b"two"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_another_mode(tmp_path: Path) -> None:
    write_whole(tmp_path / "f", b"", 0o644)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o644


def test_what_can_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    (target / "inner").mkdir(parents=True)
    with pytest.raises(OSError, match="folder"):
        write_whole(target, b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(OSError, match="nowhere"):
        write_whole(tmp_path / "nowhere" / "f", b"x")


def test_reading_has_a_bound(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"12345")
    assert read_within(file, 5) == b"12345"
    with pytest.raises(ValueError, match="larger than 4 bytes"):
        read_within(file, 4)


def test_only_plain_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to("f")
    handles = len(os.listdir("/proc/self/fd"))
    for name in ("pipe", "link", "nothing", "."):
        with pytest.raises(OSError, match=r"plain file|Errno"):
            read_within(tmp_path / name, 10)
    assert read_within(tmp_path / "link", 10, follow=True) == b"x"
    assert len(os.listdir("/proc/self/fd")) == handles


def test_a_new_folder_is_for_us_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    make_folder(folder)
    make_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make_folder(tmp_path / "file")


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    inside: list[str] = []
    seen: list[int] = []
    start = Barrier(4)

    def write() -> None:
        start.wait(10)
        with folder_lock(tmp_path):
            inside.append("x")
            seen.append(len(inside))
            write_whole(tmp_path / "f", b"x")
            inside.pop()

    threads = [Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert seen == [1, 1, 1, 1]


def test_what_a_dead_writer_left_is_removed_after_an_hour(tmp_path: Path) -> None:
    old, fresh, foreign = (
        tmp_path / name for name in (".ascend-gateway-1.tmp", ".ascend-gateway-2.tmp", "other.tmp")
    )
    for path in (old, fresh, foreign):
        path.touch()
        os.utime(path, (1000.0, 1000.0))
    os.utime(fresh, (4000.0, 4000.0))
    clear_abandoned(tmp_path, 4601.0)
    assert not old.exists()
    assert fresh.exists()
    assert foreign.exists()
