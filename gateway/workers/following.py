"""Following what was decided at another gateway: drained backends, and a published routing file."""

import json
from collections.abc import Mapping
from typing import Protocol

from gateway.store.drains import Drain
from gateway.store.shared import Exchange, Published, SharedStore, StoreError
from gateway.workers.results import Applied


class Followed(Protocol):
    """What this gateway changes when another one has said so."""

    def taken_out(self) -> Mapping[str, Drain]:
        """The backends that are taken out here."""

    async def take_drains(self, drains: Mapping[str, Drain]) -> None:
        """Exactly these backends are taken out."""

    async def file_time_s(self) -> float:
        """When the routing file here was written, in seconds since 1970; 0 without one."""

    async def take_published(self, config: Published) -> Applied:
        """Puts a published routing file in force, if it can be used."""


class Following:
    """Brings this gateway to what was decided for all, each time that there is news of it."""

    def __init__(self, store: SharedStore, followed: Followed) -> None:
        self._store = store
        self._followed = followed
        self._drains_version = ""
        self._config_version = ""
        self._is_begun = False
        self._unsaid: dict[str, Drain | None] = {}
        self.refused = ""
        """The published version that could not be put in force here, "" if there is none."""

    def __repr__(self) -> str:
        return f"<Following drains {self._drains_version!r} config {self._config_version!r}>"

    async def tell_drain(self, backend: str, drain: Drain | None) -> bool:
        """Tells all gateways that a backend was taken out, or put back (None).

        False if the store does not answer: it is told as soon as it does.
        """
        self._unsaid[backend] = drain
        try:
            await self._say()
        except StoreError:
            return False
        return True

    async def publish(self, config: Published) -> None:
        """Tells all gateways to put a routing file in force; raises `StoreError`."""
        await self._store.publish(config)
        self._config_version = config.version
        self.refused = ""

    async def follow(self, told: Exchange) -> None:
        """Takes over what has changed since the last time; raises `StoreError`."""
        await self._say()
        if not told.drains_version:
            # Nobody ever said anything, or the store has lost it: what is known here counts.
            for backend, drain in self._followed.taken_out().items():
                self._unsaid.setdefault(backend, drain)
            await self._say()
        elif told.drains_version != self._drains_version:
            drains = {name: _drain(data) for name, data in (await self._store.drains()).items()}
            await self._followed.take_drains(drains)
            self._drains_version = told.drains_version
        if told.config_version and told.config_version != self._config_version:
            config = await self._store.published()
            if config is not None and not await self._is_over(config):
                result = await self._followed.take_published(config)
                self.refused = config.version if result.result == "refused" else ""
            self._config_version = told.config_version
        self._is_begun = True

    async def _is_over(self, config: Published) -> bool:
        """Whether it was published before somebody wrote the file here, and we just began."""
        return not self._is_begun and config.at_s < await self._followed.file_time_s()

    async def _say(self) -> None:
        for backend, drain in list(self._unsaid.items()):
            await self._store.set_drain(backend, None if drain is None else as_told(drain))
            if self._unsaid.get(backend, ...) is drain:
                del self._unsaid[backend]


def as_told(drain: Drain) -> bytes:
    """A drain as it is written in the store."""
    return json.dumps(
        {"who": drain.who, "reason": drain.reason, "since_s": drain.since_s}, ensure_ascii=False
    ).encode("utf-8", "replace")


def _drain(data: bytes) -> Drain:
    """As much as can be read: a backend that was taken out stays out in any case."""
    try:
        told = json.loads(data)
    except ValueError:
        told = {}
    told = told if isinstance(told, dict) else {}
    who, reason, since_s = (told.get(name) for name in ("who", "reason", "since_s"))
    return Drain(
        who if isinstance(who, str) else "",
        reason if isinstance(reason, str) else "",
        float(since_s) if isinstance(since_s, int | float) else 0.0,
    )
