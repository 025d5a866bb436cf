"""Loading the routing file again: read it, check it, and put it in force as a whole or not."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from gateway.clock import Clock
from gateway.config.load import Loaded, load_bytes, unreadable
from gateway.config.problems import Code, Problem, Severity
from gateway.config.schema import RoutingConfig
from gateway.config.status import ConfigStatus
from gateway.store.files import read_within
from gateway.words import Words
from gateway.workers.results import Applied

# However often a reload is asked for, so much time lies between two files that are parsed, since
# that is work for the interpreter which streams would notice.
_LEAST_GAP_S: Final = 0.1
# A fleet of a thousand backends has 300 KB.
_MAX_BYTES: Final = 16 * 1024 * 1024
_NO_FILE: Final = Words(
    "this gateway was not started from a routing file",
    "本网关不是从路由文件启动的",
)

Put = Callable[[RoutingConfig, str], Awaitable[tuple[Words, ...]]]
"""Puts a config of a version in force and says what changed; raises `Unusable`."""


Write = Callable[[Path | None, bytes], str]
"""Puts a text in the place of a file, blocking; says why that failed, "" if it did not."""


class Unusable(ValueError):  # noqa: N818
    """A config that is well formed and can't be put in force here; nothing was changed."""

    def __init__(self, code: Code, path: str, message: Words, remedy: Words) -> None:
        super().__init__(f"{message.en}. {remedy.en}")
        self._fields = code, path, message, remedy

    def at(self, file: str) -> Problem:
        """The problem in a routing file."""
        code, path, message, remedy = self._fields
        return Problem(Severity.ERROR, code, file, 1, 1, path, message, remedy)


class _Read(NamedTuple):
    """What the file held; None for a file that can't be read."""

    data: bytes | None
    loaded: Loaded


class Reloader:
    """Keeps one routing file in force.

    `put` puts a config in force; `kept` is told the text of each that was; `told` what came of each
    reading that is news.
    """

    def __init__(
        self,
        file: Path | None,
        config: RoutingConfig,
        version: str,
        *,
        put: Put,
        kept: Callable[[bytes, str, str], Awaitable[None]],
        told: Callable[[Applied], None],
        clock: Clock,
    ) -> None:
        self.file = file
        self.status = ConfigStatus(version, "start", clock.wall_s())
        self._config = config
        self._put = put
        self._kept = kept
        self._told = told
        self._clock = clock
        self._seen: _Read | None = None
        self._lock = asyncio.Lock()
        self._next: asyncio.Task[Applied] | None = None
        self._parsed_s = float("-inf")

    def __repr__(self) -> str:
        refused = " refused" if self.status.is_refused else ""
        return f"<Reloader {self.file} {self.status.version}{refused}>"

    @property
    def config(self) -> RoutingConfig:
        """The config in force."""
        return self._config

    async def reload(self, who: str) -> Applied:
        """Reads the file and puts it in force if it can be used.

        Safe to call at any rate: a reading that has not begun yet serves all who ask meanwhile.
        """
        task = self._next
        if task is None or task.done():
            task = self._next = asyncio.create_task(self._turn(who), name="reload")
        return await asyncio.shield(task)

    async def look(self, who: str) -> Applied | None:
        """The same if there is news in the file, or in what stood in its way; None if not."""
        if self.file is None:
            return None
        async with self._lock:
            seen = self._seen
            read = await asyncio.to_thread(_read, self.file, seen)
            is_news = read is not seen
            # Its TLS files, say, were not there yet.
            is_to_try = self.status.is_refused and read.loaded.config is not None
            if not is_news and not is_to_try:
                return None
            result = await self._take(read, who, is_news=is_news)
            self._seen = read
            return result

    async def go_back(self, data: bytes, who: str, write: Write) -> tuple[Applied, str]:
        """Puts another text in force than the file has, and writes it there if it can be used.

        Says why it could not be written; then it holds until the file changes or is asked for.
        """
        async with self._lock:
            name = "" if self.file is None else str(self.file)
            read = _Read(data, await asyncio.to_thread(load_bytes, data, name))
            result = await self._take(read, who, is_news=True, is_file=False)
            if result.result == "refused":
                return result, ""
            why = await asyncio.to_thread(write, self.file, data)
            if not why:
                self._seen = read
                if self.status.is_refused and result.result == "unchanged":
                    self._told(result)
                self.status = _mended(self.status)
            return result, why

    async def _turn(self, who: str) -> Applied:
        async with self._lock:
            gap_s = self._parsed_s + _LEAST_GAP_S - self._clock.monotonic_s()
            if gap_s > 0:
                await asyncio.sleep(gap_s)
            # Whoever asks from here on wants what is written from here on.
            self._next = None
            if self.file is None:
                return Applied("unchanged", self.status.version, who, note=_NO_FILE)
            seen = self._seen
            read = await asyncio.to_thread(_read, self.file, seen)
            result = await self._take(read, who, is_news=read is not seen)
            # Only now: what a crash left undone is still news.
            self._seen = read
            return result

    async def _take(self, read: _Read, who: str, *, is_news: bool, is_file: bool = True) -> Applied:
        """Puts in force what was read; what is not from the file says nothing about it."""
        if is_news:
            self._parsed_s = self._clock.monotonic_s()
        loaded, problems = read.loaded, read.loaded.problems
        changes: tuple[Words, ...] = ()
        is_usable = loaded.config is not None
        if loaded.config is not None:
            try:
                changes = await self._put(loaded.config, loaded.version_hash)
            except Unusable as error:
                is_usable = False
                problems = (error.at("" if self.file is None else str(self.file)), *problems)
        if loaded.config is None or not is_usable:
            return self._refuse(problems, who, is_news=is_news, is_file=is_file)
        is_same = loaded.config == self._config
        was_refused = is_file and self.status.is_refused
        self._config = loaded.config
        if not is_same:
            now_s, version = self._clock.wall_s(), loaded.version_hash
            self.status = replace(self.status, version=version, by=who, loaded_at_s=now_s)
        if is_file:
            self.status = _mended(self.status)
        result = Applied(
            "unchanged" if is_same else "applied", loaded.version_hash, who, changes, problems
        )
        if not is_same or was_refused:
            self._told(result)
        if read.data is not None and (is_news or not is_same):
            await self._kept(read.data, loaded.version_hash, who)
        return result

    def _refuse(
        self, problems: tuple[Problem, ...], who: str, *, is_news: bool, is_file: bool
    ) -> Applied:
        result = Applied("refused", self.status.version, who, problems=problems)
        if is_file and (is_news or not self.status.is_refused):
            now_s = self._clock.wall_s()
            errors = tuple(p for p in problems if p.severity is Severity.ERROR)
            self.status = replace(self.status, refused=errors, refused_by=who, refused_at_s=now_s)
        if is_news or not is_file:
            self._told(result)
        return result


def _mended(status: ConfigStatus) -> ConfigStatus:
    return replace(status, refused=(), refused_by="", refused_at_s=None)


def _read(file: Path, seen: _Read | None) -> _Read:
    """What the file holds; a text that was read before is not parsed again."""
    try:
        data = read_within(file, _MAX_BYTES, follow=True)
    except (OSError, ValueError) as error:
        cause = error if isinstance(error, OSError) else OSError(str(error))
        loaded = unreadable(str(file), cause)
        if seen is not None and seen.data is None and seen.loaded.problems == loaded.problems:
            return seen
        return _Read(None, loaded)
    if seen is not None and seen.data == data:
        return seen
    return _Read(data, load_bytes(data, str(file)))
