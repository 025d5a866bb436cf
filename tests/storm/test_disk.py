"""The file on disk after each way to change it."""

from pathlib import Path

import pytest

from tests.storm.disk import Disk
from tests.storm.plan import Writer


@pytest.mark.parametrize("second", Writer)
@pytest.mark.parametrize("first", Writer)
def test_what_is_written_is_there(tmp_path: Path, first: Writer, second: Writer) -> None:
    disk = Disk(tmp_path / "conf")
    for number, writer in enumerate((first, second, first)):
        disk.write(b"%d" % number, writer)
        assert disk.file.read_bytes() == b"%d" % number
    disk.write(None, second)
    assert not disk.file.exists()
    disk.write(b"back", second)
    assert disk.file.read_bytes() == b"back"


def test_a_config_map_turns_one_link(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.write(b"1", Writer.CONFIG_MAP)
    was, inode = disk.file.resolve(), disk.file.lstat().st_ino
    disk.write(b"2", Writer.CONFIG_MAP)
    assert disk.file.lstat().st_ino == inode
    assert disk.file.resolve() != was
    assert not was.exists()


def test_a_file_in_place_stays_the_same_one(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    disk.write(b"1", Writer.ATOMIC)
    inode = disk.file.stat().st_ino
    disk.write(b"2", Writer.IN_PLACE)
    assert disk.file.stat().st_ino == inode
    disk.write(b"3", Writer.ATOMIC)
    assert disk.file.stat().st_ino != inode
