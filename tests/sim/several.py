"""Several gateways in front of one fleet that share nothing: each sees only its own requests."""

from collections.abc import Sequence

from tests.sim.dispatch import Dispatch, Dispatcher, KnownFleet, Maker
from tests.sim.requests import KnownRequest, Usage


class Several:
    """Requests come to the gateways in turn; all of them scrape."""

    def __init__(self, gateways: Sequence[Dispatcher]) -> None:
        self._gateways = gateways
        self._owner: dict[str, Dispatcher] = {}

    def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
        """As the protocol."""
        gateway = self._gateways[len(self._owner) % len(self._gateways)]
        self._owner[request.id] = gateway
        return gateway.arrived(request, now)

    def first_token(self, request_id: str, backend: int, now: float) -> None:
        """As the protocol."""
        self._owner[request_id].first_token(request_id, backend, now)

    def tokens(
        self, request_ids: Sequence[str], backend: int, count: int, started: float, now: float
    ) -> None:
        """As the protocol."""
        for gateway in self._gateways:
            own = [name for name in request_ids if self._owner[name] is gateway]
            if own:
                gateway.tokens(own, backend, count, started, now)

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        """As the protocol."""
        return self._owner[request_id].finished(request_id, backend, now, usage)

    def scraped(
        self,
        backend: int,
        running: int,
        waiting: int,
        kv_usage_ratio: float,
        preemptions_total: int,
        now: float,
    ) -> Sequence[Dispatch]:
        """As the protocol."""
        return [
            send
            for gateway in self._gateways
            for send in gateway.scraped(
                backend, running, waiting, kv_usage_ratio, preemptions_total, now
            )
        ]


def several(maker: Maker, count: int) -> Maker:
    """Makes `count` gateways with the same policy."""

    def make(fleet: KnownFleet) -> Dispatcher:
        return Several([maker(fleet) for _ in range(count)])

    return make
