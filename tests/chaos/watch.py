"""What the gateway says of its backends, looked at all the time."""

import asyncio
import contextlib
import time
from typing import Final, NamedTuple

import httpx

from tests.support.children import Child
from tests.support.metrics import Samples

POLL_S: Final = 0.05
_RECOVERIES: Final = "gateway_recoveries_total"


class Sight(NamedTuple):
    """How a backend looked from a moment on."""

    at_s: float
    is_up: bool
    told: str


class Moves(NamedTuple):
    """Attempts beyond the first, as the gateway counts them."""

    retried: int
    resumed: int

    def since(self, before: "Moves") -> "Moves":
        return Moves(self.retried - before.retried, self.resumed - before.resumed)


NO_MOVES: Final = Moves(0, 0)


class Watch:
    """Polls /health of the gateway every 50 ms and keeps each backend's changes."""

    def __init__(self, base_url: str, gateway: Child) -> None:
        self._gateway = gateway
        self._client = httpx.AsyncClient(
            base_url=base_url, timeout=10.0, trust_env=False, verify=False
        )
        self._sights: dict[str, list[Sight]] = {}
        self._news = asyncio.Event()
        self.failures = 0
        """Polls without a usable answer."""

    def __repr__(self) -> str:
        return f"<Watch {self.states()}>"

    async def close(self) -> None:
        await self._client.aclose()

    async def run(self) -> None:
        """Poll until cancelled; RuntimeError when the gateway is gone."""
        while True:
            began = time.monotonic()
            if not self._gateway.is_running:
                raise RuntimeError(f"the gateway ended:\n{self._gateway.tail()}")
            with contextlib.suppress(httpx.HTTPError, KeyError, ValueError):
                await self._look()
            self._news.set()
            self._news = asyncio.Event()
            await asyncio.sleep(max(0.0, POLL_S - (time.monotonic() - began)))

    async def _look(self) -> None:
        self.failures += 1
        reply = await self._client.get("/health")
        now = time.monotonic()
        for name, told in reply.json()["backends"].items():
            self.note(name, told["state"], told.get("breaker", "closed"), now)
        self.failures -= 1

    def note(self, name: str, state: str, breaker: str, now: float) -> None:
        """Keep how a backend looks, if that is new. An open breaker sends it nothing: not up."""
        is_up = state == "up" and breaker != "open"
        sights = self._sights.setdefault(name, [])
        told = state if breaker == "closed" else f"{state}/{breaker}"
        if not sights or (sights[-1].is_up, sights[-1].told) != (is_up, told):
            sights.append(Sight(now, is_up, told))

    def states(self) -> dict[str, str]:
        """How each backend looks now."""
        return {name: sights[-1].told for name, sights in self._sights.items()}

    def is_up(self, name: str) -> bool:
        sights = self._sights.get(name)
        return bool(sights) and sights is not None and sights[-1].is_up

    def lost_at(self, name: str, since_s: float) -> float | None:
        """When it was first seen not up after `since_s`."""
        return next((max(s.at_s, since_s) for s in self._after(name, since_s) if not s.is_up), None)

    def up_at(self, name: str, since_s: float) -> float | None:
        """Since when it is up, at the earliest `since_s`; None while it is not."""
        if not self.is_up(name):
            return None
        begun_s = None
        for sight in self._sights[name]:
            if not sight.is_up:
                begun_s = None
            elif begun_s is None:
                begun_s = sight.at_s
        return None if begun_s is None else max(begun_s, since_s)

    def _after(self, name: str, since_s: float) -> list[Sight]:
        """The sights after a moment, and the one that held then."""
        sights = self._sights.get(name, [])
        first = sum(sight.at_s <= since_s for sight in sights)
        return sights[max(0, first - 1) :]

    async def next_look(self) -> None:
        """Wait for one more poll."""
        await self._news.wait()

    async def metrics(self) -> Samples:
        reply = await self._client.get("/metrics")
        reply.raise_for_status()
        return Samples.parse(reply.text)

    async def moves(self) -> Moves:
        """Retries and resumptions so far."""
        samples = await self.metrics()
        kinds = (samples.total(_RECOVERIES, kind=kind) for kind in ("retry", "resume"))
        return Moves(*map(int, kinds))
