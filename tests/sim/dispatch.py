"""The seam between the simulated world and a policy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from gateway.emulator.spec import EngineSpec
from tests.sim.requests import KnownRequest, Usage


class Dispatch(NamedTuple):
    """Send this request to this backend now."""

    request: KnownRequest
    backend: int


@dataclass(frozen=True, slots=True)
class KnownBackend:
    """What configuration and the engine's own information tell of a backend; no speeds."""

    max_num_seqs: int
    capture_sizes: tuple[int, ...] | None
    """Empty for an eager engine, None when nobody told."""
    kv_tokens: int
    block_tokens: int
    max_num_batched_tokens: int


@dataclass(frozen=True, slots=True)
class KnownFleet:
    """What a dispatcher is made from."""

    backends: tuple[KnownBackend, ...]
    seed: int


def known_fleet(fleet: Sequence[EngineSpec], seed: int, sizes_known: bool = True) -> KnownFleet:
    """What a gateway knows of these engines."""
    return KnownFleet(
        tuple(
            KnownBackend(
                max_num_seqs=spec.max_num_seqs,
                capture_sizes=spec.capture_sizes if sizes_known else None,
                kv_tokens=spec.kv_tokens,
                block_tokens=spec.block_size,
                max_num_batched_tokens=spec.max_num_batched_tokens,
            )
            for spec in fleet
        ),
        seed,
    )


class Dispatcher(Protocol):
    """A policy. It may hold requests and name them in a later answer.

    Calls come in order of time. What a call returns is sent at once; a backend that has just
    ended a step has by then begun the next one, as the way to the gateway and back takes longer.
    """

    def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
        """A client has sent a request."""
        ...

    def first_token(self, request_id: str, backend: int, now: float) -> None:
        """The first token of a request has come."""
        ...

    def tokens(
        self, request_ids: Sequence[str], backend: int, count: int, started: float, now: float
    ) -> None:
        """Each of these requests got `count` more tokens, evenly spread over (started, now].

        First tokens are not among them. Everything up to `now` has been told before `arrived`,
        `finished` and `scraped` are called.
        """
        ...

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        """A request has been answered completely."""
        ...

    def scraped(
        self,
        backend: int,
        running: int,
        waiting: int,
        kv_usage_ratio: float,
        preemptions_total: int,
        now: float,
    ) -> Sequence[Dispatch]:
        """The backend's metrics have been read; happens every second."""
        ...


Maker = Callable[[KnownFleet], Dispatcher]
"""Makes a policy for one run."""
