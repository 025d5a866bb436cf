"""The store of a gateway that is alone: every place is its own to give."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from gateway.store.shared import Claim, Exchange, Granted, Held, Published, Seen, StoreError, places


class MemoryStore:
    """A `SharedStore` without others. Nothing in it waits."""

    is_up = True
    trouble = ""
    round_trips_total = 0

    def __repr__(self) -> str:
        return "<MemoryStore>"

    async def claim(self, claim: Claim) -> Granted:
        """Always given: the gateway's own decision counts."""
        return Granted(is_granted=True, held=0)

    def release(self, server: str, lease: str, sequences: int, wake: str | None) -> None:
        """There is nobody to tell."""

    async def exchange(self, bulletin: bytes, prompts: bytes, held: Sequence[Held]) -> Exchange:
        """Nobody else is there, so this gateway reads all metrics itself."""
        alone = {one.server: Seen(places(one), is_scraper=True) for one in held}
        return Exchange(alone, MappingProxyType({}), "", "")

    async def listen(self, freed: Callable[[str], None]) -> None:
        """Nobody gives anything over."""
        await asyncio.Event().wait()

    async def drains(self) -> Mapping[str, bytes]:
        """Drains are kept in the state folder."""
        return MappingProxyType({})

    async def set_drain(self, backend: str, told: bytes | None) -> None:
        """There is nobody to tell."""

    async def published(self) -> Published | None:
        """Nothing is published."""
        return None

    async def publish(self, config: Published) -> None:
        """Raises StoreError: there is nobody to publish for."""
        raise StoreError("there is no store that gateways share; set ASCEND_GATEWAY_STORE_URL")

    async def close(self) -> None:
        """Nothing to close."""
