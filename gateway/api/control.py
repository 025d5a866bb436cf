"""What the routes of administration may ask of the running gateway."""

from typing import Protocol

from gateway.store.history import Entry
from gateway.workers.results import Applied, DrainState, Preview

__all__ = ["Applied", "Control", "DrainState", "Entry", "Preview"]


class Control(Protocol):
    """The commands of operators; `who` is named in events, in /health and in the history."""

    async def reload(self, who: str) -> Applied:
        """Reads the routing file again."""

    async def preview(self, text: str, file: str) -> Preview:
        """What a file would change; `file` is its name in problems."""

    async def publish(self, text: str, who: str) -> Applied:
        """Puts a routing file in force here and at all gateways that share the store."""

    async def rollback(self, version: str | None, who: str) -> Applied | None:
        """Puts a kept version in force, without one that before; None: no such version is kept."""

    async def history(self) -> tuple[Entry, ...]:
        """The versions that are kept, the newest last."""

    async def text_of(self, version: str) -> str | None:
        """The text of a kept version, by version or number; None: not kept."""

    async def drain(self, backend: str, reason: str, who: str) -> DrainState | None:
        """Takes a backend out; None: no such backend."""

    async def undrain(self, backend: str, who: str) -> DrainState | None:
        """Puts a backend back in; None: no such backend."""

    def draining(self, backend: str) -> DrainState | None:
        """How far a backend is; None: no such backend."""
