"""What gateways share, whatever keeps it: places at backends, bulletins, drains, a routing file."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, Protocol


class Claim(NamedTuple):
    """A place that is wanted at a backend: `limit` places there are in all, None for any number.

    `lease` is a name that no other place of this gateway has or had; an answer takes `sequences`
    places.
    """

    server: str
    lease: str
    sequences: int
    limit: int | None


class Granted(NamedTuple):
    """Whether the place was given, and how many were taken before, by all gateways."""

    is_granted: bool
    held: int


class Held(NamedTuple):
    """What this gateway has at one backend: its leases with their sequences."""

    server: str
    leases: Sequence[tuple[str, int]]


def places(held: Held) -> int:
    """How many places these leases take."""
    return sum(sequences for _, sequences in held.leases)


class Seen(NamedTuple):
    """What is known at one backend: the places of all gateways.

    `is_scraper` says that this gateway is the one that reads the backend's metrics for all.
    """

    held: int
    is_scraper: bool


class Exchange(NamedTuple):
    """What came back: by backend what is known there, and the bulletin of each other gateway.

    The versions change with the drains and the published routing file; "" if there is none.
    `prompts` are what others have sent where since the last time.
    """

    backends: Mapping[str, Seen]
    bulletins: Mapping[str, bytes]
    drains_version: str
    config_version: str
    prompts: Sequence[bytes] = ()


class Published(NamedTuple):
    """A routing file that one gateway published for all, at `at_s` (seconds since 1970)."""

    version: str
    text: str
    who: str
    at_s: float = 0.0


class StoreError(Exception):
    """The store did not do what it was asked to; the text says what happened."""


class SharedStore(Protocol):
    """The state that several gateways share.

    Whatever waits here raises `StoreError` when the store does not answer in time, and at once
    while it is known to be down. Nothing that is told or released is lost by that for long: the
    next `exchange` tells all of it again.
    """

    @property
    def is_up(self) -> bool:
        """Whether it answered the last time."""

    @property
    def trouble(self) -> str:
        """Why it is not up, "" while it is."""

    @property
    def round_trips_total(self) -> int:
        """How often something was sent and awaited."""

    async def claim(self, claim: Claim) -> Granted:
        """Takes a place. Waits 50 ms at most."""

    def release(self, server: str, lease: str, sequences: int, wake: str | None) -> None:
        """Gives a place back, and tells the gateway `wake` that it may take it. Never waits."""

    async def exchange(self, bulletin: bytes, prompts: bytes, held: Sequence[Held]) -> Exchange:
        """Tells what this gateway has, learns what the others have. May wait a second.

        Leases need not be told each time, only well within the seconds that they live.
        """

    async def listen(self, freed: Callable[[str], None]) -> None:
        """Calls `freed` with each backend at which a place was given over to this gateway."""

    async def drains(self) -> Mapping[str, bytes]:
        """The backends that were taken out for all, and what was told of each."""

    async def set_drain(self, backend: str, told: bytes | None) -> None:
        """Takes a backend out for all gateways, or puts it back (None)."""

    async def published(self) -> Published | None:
        """The routing file that was published last."""

    async def publish(self, config: Published) -> None:
        """Puts a routing file in force at all gateways."""

    async def close(self) -> None:
        """Gives up the leases of this gateway and ends the connections."""


Sleep = Callable[[float], Awaitable[None]]
