"""What operators do to a running gateway: reload, look ahead, go back, take a backend out."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gateway.clock import Clock
from gateway.config.diff import diff
from gateway.config.diff_words import describe
from gateway.config.load import load_text
from gateway.fleet.change import Change
from gateway.fleet.health.evidence import DrainBegun, DrainEnded
from gateway.fleet.live import LiveBackend
from gateway.fleet.registry import Registry
from gateway.store.drains import Drain, Drains
from gateway.store.files import replace_file
from gateway.store.history import Entry, History
from gateway.store.shared import Published, StoreError
from gateway.words import Words
from gateway.workers.following import Following
from gateway.workers.reloading import Reloader
from gateway.workers.results import Applied, DrainState, Preview

_ONLY_IN_MEMORY: Final = Words(
    "the routing file could not be written ({why}); it still holds the other version, which the "
    "next change of the file, or a restart, brings back",
    "无法写入路由文件（{why}）；文件中仍是另一个版本，下次文件变化或重启后会再次生效",
)
_NOBODY: Final = Words(
    "no store is set (store_url), so only this gateway has it",
    "未配置共享存储（store_url），只有本网关生效",
)
_NOT_PUBLISHED: Final = Words(
    "the store did not take it ({why}), so only this gateway has it; publish it again",
    "共享存储未接受（{why}），只有本网关生效；请重新发布",
)
_TOLD_LATER: Final = Words(
    "the store does not answer; the other gateways are told as soon as it does",
    "共享存储无响应；恢复后会立即通知其他网关",
)
_NO_FOLDER: Final = Words(
    "there is no state folder (set state_dir); a restart will undo the drain",
    "未配置状态目录（state_dir）；重启后摘除状态将失效",
)


class Controls:
    """The commands of operators; `waiting` says how many requests wait for a model."""

    def __init__(
        self,
        fleet: Registry,
        reloader: Reloader,
        history: History,
        drains: Drains,
        *,
        waiting: Callable[[str], int],
        tell: Callable[[tuple[Change, ...]], None],
        look: Callable[[], None],
        clock: Clock,
    ) -> None:
        self._fleet = fleet
        self._reloader = reloader
        self._history = history
        self._drains = drains
        self._waiting = waiting
        self._tell = tell
        self._look = look
        self._clock = clock
        self._lock = asyncio.Lock()
        self._taken_out: dict[str, Drain] = {}
        self._others: list[Callable[[], None]] = []
        self._following: Following | None = None

    def __repr__(self) -> str:
        return f"<Controls {self._reloader!r} drained={sorted(self._taken_out)}>"

    async def load(self) -> Words | None:
        """Reads which backends had been taken out before the start; says what went wrong."""
        self._taken_out = dict(await asyncio.to_thread(self._drains.load))
        return self._drains.trouble

    def follow(self, following: Following) -> None:
        """From now on other gateways are told, and followed."""
        self._following = following

    def taken_out(self) -> Mapping[str, Drain]:
        """The backends that are taken out here."""
        return self._taken_out

    async def take_drains(self, drains: Mapping[str, Drain]) -> None:
        """Exactly these backends are taken out, as another gateway has said."""
        async with self._lock:
            before = self._taken_out
            await self._keep(drains)
        now = self._clock.monotonic_s()
        for name, live in list(self._fleet.backends.items()):
            if name in drains and drains[name] != before.get(name):
                self._tell(live.observe(DrainBegun(_reason(drains[name])), now))
            elif name in before and name not in drains:
                self._tell(live.observe(DrainEnded(), now))
        self._look()

    async def file_time_s(self) -> float:
        """When the routing file was written, in seconds since 1970; 0 without one."""
        file = self._reloader.file
        if file is None:
            return 0.0
        try:
            return (await asyncio.to_thread(file.stat)).st_mtime
        except OSError:
            return 0.0

    async def take_published(self, config: Published) -> Applied:
        """Puts a routing file in force that was published for all; the file here is written."""
        data, who = config.text.encode("utf-8"), f"published by {config.who}"
        return _with_note(*await self._reloader.go_back(data, who, replace_file))

    async def publish(self, text: str, who: str) -> Applied:
        """Puts a routing file in force here, and then at all gateways that share the store.

        One that can't be used here changes nothing anywhere.
        """
        result = _with_note(*await self._reloader.go_back(text.encode("utf-8"), who, replace_file))
        if self._following is None:
            return replace(result, note=_NOBODY)
        if result.result == "refused":
            return result
        now_s = self._clock.wall_s()
        try:
            await self._following.publish(Published(result.version, text, who, now_s))
        except StoreError as error:
            told = (text.format(why=error) for text in _NOT_PUBLISHED)
            return replace(result, note=Words(*told))
        return result

    def rename(self, renamed: Mapping[str, str]) -> bool:
        """A drained backend has another name now, by its old one; whether there is any."""
        if not renamed.keys() & self._taken_out.keys():
            return False
        self._taken_out = {renamed.get(n, n): drain for n, drain in self._taken_out.items()}
        return True

    async def save(self) -> None:
        """Keeps the drained backends for the next start."""
        async with self._lock:
            await self._keep(self._taken_out)

    def drain_reason(self, backend: str) -> str | None:
        """Why an operator took the backend out; None if nobody did."""
        drain = self._taken_out.get(backend)
        return None if drain is None else _reason(drain)

    def also_reload(self, other: Callable[[], None]) -> None:
        """Calls `other` in a thread at each reload that is asked for; it may raise OSError or
        ValueError, whose text becomes the note of the result."""
        self._others.append(other)

    async def reload(self, who: str) -> Applied:
        """Reads the routing file again, and whatever else is read again with it."""
        result = await self._reloader.reload(who)
        for other in self._others:
            try:
                await asyncio.to_thread(other)
            except (OSError, ValueError) as error:
                result = replace(result, note=Words(str(error), str(error)))
        return result

    async def preview(self, text: str, file: str) -> Preview:
        """What a file would change."""
        loaded = await asyncio.to_thread(load_text, text, file)
        if loaded.config is None:
            return Preview(loaded.version_hash, (), loaded.problems, is_usable=False)
        change = diff(self._fleet.config, loaded.config)
        told = describe(change, self._in_flight(), self._all_waiting())
        return Preview(loaded.version_hash, told, loaded.problems, is_usable=True)

    async def history(self) -> tuple[Entry, ...]:
        """The versions that are kept, the newest last."""
        return await asyncio.to_thread(self._history.entries)

    async def text_of(self, version: str) -> str | None:
        """The text of a kept version."""
        return await asyncio.to_thread(self._history.text_of, version)

    async def rollback(self, version: str | None, who: str) -> Applied | None:
        """Puts a kept version in force and writes it to the routing file; None: not kept.

        Without a version, the one before the one in force.
        """
        version = version or await self._version_before()
        text = None if version is None else await self.text_of(version)
        if text is None:
            return None
        told = f"{who}, back to {version}"
        return _with_note(*await self._reloader.go_back(text.encode("utf-8"), told, replace_file))

    async def drain(self, backend: str, reason: str, who: str) -> DrainState | None:
        """Nothing new goes to the backend until `undrain`; None: no such backend."""
        if backend not in self._fleet.backends:
            return None
        async with self._lock:
            drain = Drain(who, reason, self._clock.wall_s())
            note = await self._keep({**self._taken_out, backend: drain})
        note = await self._told_all(backend, drain) or note
        live = self._fleet.backends.get(backend)
        if live is None:
            return None
        self._tell(live.observe(DrainBegun(_reason(drain)), self._clock.monotonic_s()))
        return self._state(backend, note)

    async def undrain(self, backend: str, who: str) -> DrainState | None:
        """The backend is used again; None: no such backend."""
        is_known = backend in self._fleet.backends
        if not is_known and backend not in self._taken_out:
            return None
        async with self._lock:
            rest = {name: d for name, d in self._taken_out.items() if name != backend}
            note = await self._keep(rest)
        note = await self._told_all(backend, None) or note
        live = self._fleet.backends.get(backend)
        if live is not None:
            self._tell(live.observe(DrainEnded(), self._clock.monotonic_s()))
            self._look()
        return self._state(backend, note)

    def draining(self, backend: str) -> DrainState | None:
        """How far the backend is; None: no such backend."""
        if backend not in self._fleet.backends:
            return None
        return self._state(backend, None)

    async def _keep(self, drains: Mapping[str, Drain]) -> Words | None:
        self._taken_out = dict(drains)
        await asyncio.to_thread(self._drains.save, drains)
        return _NO_FOLDER if self._drains.is_in_memory else self._drains.trouble

    async def _told_all(self, backend: str, drain: Drain | None) -> Words | None:
        """Tells the other gateways, if there are any; says what went wrong."""
        if self._following is None or await self._following.tell_drain(backend, drain):
            return None
        return _TOLD_LATER

    def _state(self, backend: str, note: Words | None) -> DrainState:
        live = self._fleet.backends.get(backend)
        models = self._fleet.names.models.values()
        at = [m.name for m in models if any(x.backend.name == backend for x in m.members)]
        return DrainState(
            backend,
            0 if live is None else live.in_flight + _elsewhere(live),
            sum(self._waiting(name) for name in at),
            live is not None and live.health.drain_reason is not None,
            note,
        )

    def _in_flight(self) -> Mapping[str, int]:
        return {name: live.in_flight for name, live in self._fleet.backends.items()}

    def _all_waiting(self) -> Mapping[str, int]:
        return {name: self._waiting(name) for name in self._fleet.names.models}

    async def _version_before(self) -> str | None:
        entries = await self.history()
        now = self._reloader.status.version
        others = [entry.version for entry in entries if entry.version != now]
        return others[-1] if others else None


def _elsewhere(live: LiveBackend) -> int:
    """Requests that other gateways have there."""
    peers = live.work.figures.peers
    return 0 if peers is None else peers.requests


def _with_note(result: Applied, why: str) -> Applied:
    if not why:
        return result
    return replace(result, note=Words(*(text.format(why=why) for text in _ONLY_IN_MEMORY)))


def _reason(drain: Drain) -> str:
    told = f"taken out by {drain.who}"
    return f"{told}: {drain.reason}" if drain.reason else told
