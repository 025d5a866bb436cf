"""A file that changes in every way that files change."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.workers.watching import changes_of, watched_folders
from tests.support.waiting import LIMIT_S


class Watched:
    """A file under watch, and how often something was seen."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.seen = 0
        self._event = asyncio.Event()

    async def run(self) -> None:
        async for _ in changes_of(self.file):
            self.seen += 1
            self._event.set()

    async def until_seen(self, act: Callable[[], object]) -> None:
        """Acts, and waits until something is seen that was not before."""
        self._event.clear()
        act()
        await asyncio.wait_for(self._event.wait(), LIMIT_S)


@asynccontextmanager
async def watching(file: Path) -> AsyncIterator[Watched]:
    watched = Watched(file)
    task = asyncio.create_task(watched.run())
    marker = file.parent / "marker"
    try:
        # Only what happens once the watch is on can be seen: until then something happens again
        # and again.
        while not watched.seen:
            if file.parent.is_dir():
                marker.write_text("x")
            await asyncio.sleep(0.05)
        yield watched
    finally:
        task.cancel()
        await asyncio.wait([task])


def config_map(folder: Path, text: str, stamp: str) -> Callable[[], None]:
    """What the kubelet does: a new folder beside, then one link is turned."""

    def put() -> None:
        data = folder / f"..{stamp}"
        data.mkdir()
        (data / "routing.yaml").write_text(text)
        (folder / "..new").symlink_to(data.name)
        os.replace(folder / "..new", folder / "..data")

    return put


async def test_a_file_that_is_written_in_place_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "routing.yaml"
    file.write_text("a")
    async with watching(file) as watched:
        await watched.until_seen(lambda: file.write_text("b"))


async def test_a_file_that_is_put_in_its_place_is_seen(tmp_path: Path) -> None:
    file, other = tmp_path / "routing.yaml", tmp_path / "new"
    file.write_text("a")
    other.write_text("b")
    async with watching(file) as watched:
        await watched.until_seen(lambda: os.replace(other, file))


async def test_a_file_that_goes_and_comes_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "routing.yaml"
    file.write_text("a")
    async with watching(file) as watched:
        await watched.until_seen(file.unlink)
        await watched.until_seen(lambda: file.write_text("b"))


async def test_a_config_map_that_turns_is_seen_each_time(tmp_path: Path) -> None:
    config_map(tmp_path, "a", "1")()
    file = tmp_path / "routing.yaml"
    file.symlink_to("..data/routing.yaml")
    async with watching(file) as watched:
        for number in range(2, 5):
            await watched.until_seen(config_map(tmp_path, str(number), str(number)))
            assert file.read_text() == str(number)


async def test_a_link_to_a_file_elsewhere_is_followed(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (there / "real.yaml").write_text("a")
    file = here / "routing.yaml"
    file.symlink_to(there / "real.yaml")
    async with watching(file) as watched:
        await watched.until_seen(lambda: (there / "real.yaml").write_text("b"))


@pytest.mark.parametrize("loop", [False, True])
def test_the_folders_of_links_end(tmp_path: Path, loop: bool) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    if loop:
        other.symlink_to(one)
    assert watched_folders(one) == (tmp_path,)


def test_a_missing_folder_is_waited_for_above_it(tmp_path: Path) -> None:
    assert watched_folders(tmp_path / "no" / "such" / "routing.yaml") == (tmp_path,)


@pytest.mark.parametrize("error", [OSError("no inotify watches left"), RuntimeError("inotify")])
async def test_where_nothing_can_be_watched_the_file_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def broken(*folders: Path, **options: Any) -> AsyncIterator[set[Any]]:
        raise error
        yield set()

    monkeypatch.setattr("gateway.workers.watching.awatch", broken)
    looks = changes_of(tmp_path / "routing.yaml")
    for _ in range(2):
        await asyncio.wait_for(anext(looks), LIMIT_S)


async def test_a_file_behind_a_link_that_turned_is_still_seen(tmp_path: Path) -> None:
    """Written in place, in the folder that the link leads to now."""
    config_map(tmp_path, "a", "1")()
    file = tmp_path / "routing.yaml"
    file.symlink_to("..data/routing.yaml")
    assert watched_folders(file) == (tmp_path, tmp_path / "..1")
    async with watching(file) as watched:
        await watched.until_seen(config_map(tmp_path, "b", "2"))
        await watched.until_seen(lambda: file.write_text("c"))
        assert watched_folders(file) == (tmp_path, tmp_path / "..2")
