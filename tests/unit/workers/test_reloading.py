"""Reading the routing file again: in force as a whole or not at all, at any rate."""

import asyncio
import os
from pathlib import Path

import pytest

from gateway.clock import Clock
from gateway.config.load import load_text
from gateway.config.problems import Code
from gateway.config.schema import RoutingConfig
from gateway.words import Words
from gateway.workers.reloading import Reloader, Unusable
from gateway.workers.results import Applied

GOOD = """
version: 1
backends: [{name: a, url: "http://h:1", served_name: m, capture_sizes: [1, 4], max_num_seqs: 4}]
models: [{name: m1, backends: [a]}]
"""
OTHER = GOOD.replace("name: m1", "name: m2")
BROKEN = GOOD.replace("name: m1, backends", "name: m1 backends")
WRONG = GOOD.replace("backends: [a]}", "backends: [nobody]}")
TOLD = Words("something changed", "有变化")


class Desk:
    """A reloader over a real file, with all that it told."""

    def __init__(self, folder: Path, text: str | None = GOOD) -> None:
        self.now = 0.0
        self.file = folder / "routing.yaml"
        if text is not None:
            self.file.write_text(text)
        self.put: list[str] = []
        self.kept: list[tuple[str, str]] = []
        self.told: list[Applied] = []
        self.unusable: Unusable | None = None
        self.in_put = asyncio.Event()
        self.go_on = asyncio.Event()
        self.go_on.set()
        loaded = load_text(GOOD, "r.yaml")
        assert loaded.config is not None
        self.first = loaded.version_hash
        self.reloader = Reloader(
            self.file,
            loaded.config,
            loaded.version_hash,
            put=self._put,
            kept=self._keep,
            told=self.told.append,
            clock=Clock(lambda: self.now, lambda: 1000.0 + self.now),
        )

    async def _put(self, config: RoutingConfig, version: str) -> tuple[Words, ...]:
        self.in_put.set()
        await self.go_on.wait()
        if self.unusable is not None:
            raise self.unusable
        self.put.append(version)
        return (TOLD,)

    async def _keep(self, data: bytes, version: str, who: str) -> None:
        self.kept.append((data.decode(), who))

    async def reload(self, text: str | None = None, who: str = "me") -> Applied:
        if text is not None:
            self.file.write_text(text)
        self.now += 1.0
        return await self.reloader.reload(who)


async def test_another_file_comes_into_force(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    result = await desk.reload(OTHER)
    status = desk.reloader.status
    assert (result.result, result.changes, result.who) == ("applied", (TOLD,), "me")
    assert (status.version, status.by, status.loaded_at_s) == (result.version, "me", 1001.0)
    assert result.version != desk.first
    assert desk.reloader.config.models[0].name == "m2"
    assert desk.kept == [(OTHER, "me")]
    assert desk.told == [result]


async def test_the_same_file_is_no_news_but_read_for_its_keys(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for _ in range(3):
        assert (await desk.reload()).result == "unchanged"
    assert desk.put == [desk.first] * 3
    assert desk.told == []
    assert [text for text, _ in desk.kept] == [GOOD]


async def test_a_comment_changes_the_text_and_not_the_version(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.reload()
    result = await desk.reload(GOOD + "# for the night shift\n")
    assert (result.result, result.version) == ("unchanged", desk.first)
    assert len(desk.kept) == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (BROKEN, Code.YAML_SYNTAX),
        (WRONG, Code.UNKNOWN_BACKEND),
        ("", Code.EMPTY_FILE),
        (GOOD[: len(GOOD) // 2], Code.YAML_SYNTAX),
    ],
)
async def test_a_bad_file_changes_nothing_until_it_is_mended(
    tmp_path: Path, text: str, code: Code
) -> None:
    desk = Desk(tmp_path)
    await desk.reload()
    refused = await desk.reload(text)
    assert refused.result == "refused"
    assert code in [p.code for p in refused.problems]
    assert refused.version == desk.reloader.status.version == desk.first
    assert desk.reloader.status.refused
    assert set(desk.reloader.status.refused) <= set(refused.problems)
    assert (await desk.reload()).problems == refused.problems
    assert [r.result for r in desk.told] == ["refused"]
    mended = await desk.reload(GOOD)
    assert (mended.result, mended.version) == ("unchanged", desk.first)
    assert not desk.reloader.status.is_refused
    assert [r.result for r in desk.told] == ["refused", "unchanged"]
    assert (await desk.reload(OTHER)).result == "applied"


async def test_a_file_that_is_gone_is_refused_until_it_is_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.reload()
    desk.file.unlink()
    for _ in range(2):
        refused = await desk.reload()
        assert [p.code for p in refused.problems] == [Code.FILE_UNREADABLE]
    assert [r.result for r in desk.told] == ["refused"]
    assert (await desk.reload(GOOD)).result == "unchanged"
    assert not desk.reloader.status.is_refused


async def test_what_cannot_be_put_in_force_is_tried_until_it_can(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.unusable = Unusable(
        Code.TLS_FILES_UNUSABLE, "backends[0].tls", Words("no", "不"), Words("mend", "改")
    )
    refused = await desk.reload(OTHER)
    assert refused.problems[0].code is Code.TLS_FILES_UNUSABLE
    assert desk.reloader.status.version == desk.first
    assert await desk.reloader.look("file") is not None
    desk.unusable = None
    seen = await desk.reloader.look("file")
    assert seen is not None
    assert seen.result == "applied"


async def test_whoever_asks_while_a_reading_waits_shares_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.go_on.clear()
    first = asyncio.create_task(desk.reload(OTHER))
    await desk.in_put.wait()
    many = [asyncio.create_task(desk.reloader.reload(str(n))) for n in range(100)]
    await asyncio.sleep(0)
    desk.file.write_text(GOOD)
    desk.now += 1.0
    desk.go_on.set()
    assert (await first).result == "applied"
    results = await asyncio.gather(*many)
    assert {r.version for r in results} == {desk.first}
    assert len(desk.put) == 2


async def test_a_crash_in_one_reload_is_no_stuck_state(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.unusable = ZeroDivisionError("a bug")  # type: ignore[assignment]
    with pytest.raises(ZeroDivisionError):
        await desk.reload(OTHER)
    desk.unusable = None
    assert (await desk.reload()).result == "applied"


async def test_what_crashed_is_looked_at_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.reload()
    desk.file.write_text(OTHER)
    desk.unusable = ZeroDivisionError("a bug")  # type: ignore[assignment]
    with pytest.raises(ZeroDivisionError):
        await desk.reloader.look("file")
    desk.unusable = None
    seen = await desk.reloader.look("file")
    assert seen is not None
    assert seen.result == "applied"


async def test_what_is_no_plain_file_of_bounded_size_is_refused(tmp_path: Path) -> None:
    """A pipe that nobody writes to, a device without an end, a folder, a log in its place."""
    desk = Desk(tmp_path)
    await desk.reload()
    desk.file.unlink()
    os.mkfifo(desk.file)
    assert codes(await asyncio.wait_for(desk.reload(), 5.0)) == [Code.FILE_UNREADABLE]
    desk.file.unlink()
    desk.file.symlink_to("/dev/zero")
    assert codes(await asyncio.wait_for(desk.reload(), 5.0)) == [Code.FILE_UNREADABLE]
    desk.file.unlink()
    desk.file.mkdir()
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        assert codes(await desk.reload()) == [Code.FILE_UNREADABLE]
    assert len(os.listdir("/proc/self/fd")) == files
    desk.file.rmdir()
    with desk.file.open("wb") as file:
        file.truncate(1 << 40)
    refused = await desk.reload()
    assert codes(refused) == [Code.FILE_UNREADABLE]
    assert "larger than" in refused.problems[0].told.en
    desk.file.unlink()
    (tmp_path / "real.yaml").write_text(OTHER)
    desk.file.symlink_to("real.yaml")
    assert (await desk.reload()).result == "applied"


def codes(result: Applied) -> list[Code]:
    assert result.result == "refused"
    return [problem.code for problem in result.problems]


async def test_who_is_cancelled_does_not_end_the_reload(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.go_on.clear()
    asked = asyncio.create_task(desk.reload(OTHER))
    await desk.in_put.wait()
    asked.cancel()
    await asyncio.wait([asked])
    desk.go_on.set()
    assert (await desk.reload()).version != desk.first


async def test_a_look_takes_only_news(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert await desk.reloader.look("start") is not None
    assert await desk.reloader.look("file") is None
    desk.file.write_text(OTHER)
    seen = await desk.reloader.look("file")
    assert seen is not None
    assert (seen.result, seen.who) == ("applied", "file")


async def test_another_text_holds_until_the_file_changes_or_is_asked_for(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.reload()
    back, why = await desk.reloader.go_back(OTHER.encode(), "me, back", lambda file, data: "full")
    assert (back.result, why) == ("applied", "full")
    assert await desk.reloader.look("file") is None
    assert desk.reloader.status.version == back.version
    assert (await desk.reload()).result == "applied"
    assert desk.reloader.status.version == desk.first


async def test_a_bad_text_that_is_not_the_file_says_nothing_about_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.reload()
    written: list[bytes] = []

    def write(file: Path | None, data: bytes) -> str:
        written.append(data)
        return ""

    back, _ = await desk.reloader.go_back(BROKEN.encode(), "me", write)
    assert (back.result, written) == ("refused", [])
    assert not desk.reloader.status.is_refused


async def test_files_are_not_parsed_faster_than_ten_times_a_second(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.reload(OTHER)
    desk.file.write_text(GOOD)
    began_s = asyncio.get_running_loop().time()
    await desk.reloader.reload("at once")
    assert asyncio.get_running_loop().time() - began_s >= 0.09
