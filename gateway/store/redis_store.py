"""What gateways share, kept in Redis 7 or Valkey: standalone, Sentinel or Cluster."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from redis.exceptions import RedisError
from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from gateway.store.address import connect, read_address
from gateway.store.line import Line, Script
from gateway.store.shared import Claim, Exchange, Granted, Held, Published, Seen, StoreError

LEASE_S: Final = 3.0
"""Seconds after which the places of a gateway that says nothing more are free again."""

CLAIM_S: Final = 0.04
"""Seconds that a request waits for the store, with what the loop needs beside below 50 ms."""

_LAST_TURNS: Final = 20
_LUA: Final = Path(__file__).with_name("lua")
_RETRY_FIRST_S: Final = 0.1
_RETRY_LONGEST_S: Final = 2.0


def _script(name: str) -> Script:
    text = (_LUA / f"{name}.lua").read_text(encoding="utf-8")
    return Script(text, hashlib.sha1(text.encode("utf-8"), usedforsecurity=False).hexdigest())


class RedisStore:
    """A `SharedStore` in Redis. `owner` names this gateway among all that share `namespace`.

    Keys: NAMESPACE:{SERVER}:leases and :scraper for each backend, and NAMESPACE:{fleet}:...
    What is in braces is the hash tag, so that a script's keys lie on one node of a cluster.
    """

    def __init__(self, url: str, namespace: str, owner: str) -> None:
        """Raises ValueError for a URL that can't be used. Nothing is sent yet."""
        self._address = read_address(url)
        self._namespace = namespace
        self._owner = owner
        self._client = connect(self._address, f"ascend-gateway:{owner}"[:64])
        self._line = Line(self._client)
        self._claim = _script("claim")
        self._backend = _script("backend")
        self._fleet = _script("fleet")
        self._drain = _script("drain")
        self._lease_ms = round(LEASE_S * 1000)
        self._newest = ""
        self.is_up = False
        self.trouble = "it has not been asked yet"
        self.failures_total = 0

    def __repr__(self) -> str:
        return f"<RedisStore {self._address.shown} {'up' if self.is_up else self.trouble}>"

    @property
    def shown(self) -> str:
        """The address without its secrets."""
        return self._address.shown

    @property
    def round_trips_total(self) -> int:
        """How often something was sent and awaited."""
        return self._line.round_trips_total

    async def claim(self, claim: Claim) -> Granted:
        """Takes a place at a backend; raises `StoreError` soon when the store does not answer."""
        if not self.is_up:
            raise StoreError(self.trouble)
        limit = -1 if claim.limit is None else claim.limit
        future = self._line.send(
            self._claim,
            1,
            self._key(claim.server, "leases"),
            self._lease_ms,
            limit,
            *self._members(claim.lease, claim.sequences),
        )
        await asyncio.wait({future}, timeout=CLAIM_S)
        for _ in range(_LAST_TURNS):
            if future.done():
                break
            # What came while the loop was busy is read now, in a few turns.
            await asyncio.sleep(0)
        if not future.done():
            self._failed(f"no answer within {CLAIM_S * 1000:.0f} ms")
            raise StoreError(self.trouble)
        is_granted, before = self._answer(future)
        return Granted(bool(is_granted), int(before))

    def release(self, server: str, lease: str, sequences: int, wake: str | None) -> None:
        """Gives a place back; one that is not told ends by itself after `LEASE_S`."""
        if not self.is_up:
            return
        members = self._members(lease, sequences)
        self._line.send("ZREM", self._key(server, "leases"), *members)
        if wake is not None:
            self._line.send("PUBLISH", self._channel(wake), server)

    async def exchange(self, bulletin: bytes, prompts: bytes, held: Sequence[Held]) -> Exchange:
        """Tells what this gateway has and learns what the others have; the store is up if it works.

        While the store is down it is asked less and less often, with jitter.
        """
        fleet = self._line.send(
            self._fleet,
            4,
            *(self._key("fleet", name) for name in ("gateways", "drains", "config", "prompts")),
            self._owner,
            self._lease_ms,
            bulletin,
            self._newest,
            prompts,
        )
        backends = [self._line.send(*self._held(one)) for one in held]
        await asyncio.wait({fleet, *backends})
        told = self._answer(fleet)
        seen = {
            one.server: _seen(self._answer(future))
            for one, future in zip(held, backends, strict=True)
        }
        self.is_up, self.trouble = True, ""
        versions, self._newest = (told[0].decode(), told[1].decode()), told[2].decode()
        count = int(told[3])
        fresh, rest = told[4 : 4 + count], told[4 + count :]
        names = (name.decode() for name in rest[::2])
        return Exchange(seen, dict(zip(names, rest[1::2], strict=True)), *versions, fresh)

    async def listen(self, freed: Callable[[str], None]) -> None:
        """Hears of places that were given over, and subscribes anew whenever the line breaks."""
        retrying = AsyncRetrying(
            retry=retry_if_exception_type((RedisError, OSError)),
            wait=wait_random_exponential(multiplier=_RETRY_FIRST_S, max=_RETRY_LONGEST_S),
        )
        while True:
            async for attempt in retrying:
                with attempt:
                    await self._hear(freed)

    async def drains(self) -> Mapping[str, bytes]:
        """The backends that were taken out for all."""
        told = await self._ask("HGETALL", self._key("fleet", "drains"))
        pairs = told.items() if isinstance(told, dict) else zip(told[::2], told[1::2], strict=True)
        return {name.decode(): told for name, told in pairs if name}

    async def set_drain(self, backend: str, told: bytes | None) -> None:
        """Takes a backend out for all gateways, or puts it back."""
        await self._ask(self._drain, 1, self._key("fleet", "drains"), backend, told or b"")

    async def published(self) -> Published | None:
        """The routing file that was published last."""
        key = self._key("fleet", "config")
        names = ("version", "text", "who", "at_s")
        version, text, who, at_s = await self._ask("HMGET", key, *names)
        if version is None or text is None:
            return None
        told = [value.decode("utf-8") for value in (version, text, who or b"")]
        return Published(told[0], told[1], told[2], float(at_s or 0.0))

    async def publish(self, config: Published) -> None:
        """Puts a routing file in force at all gateways."""
        fields = [part for pair in config._asdict().items() for part in pair]
        await self._ask("HSET", self._key("fleet", "config"), *fields)

    async def close(self) -> None:
        """Takes this gateway off the list; what it still has ends by itself."""
        if self.is_up:
            self._line.send("HDEL", self._key("fleet", "gateways"), self._owner)
        await self._line.close()

    async def _hear(self, freed: Callable[[str], None]) -> None:
        pubsub = self._client.pubsub()
        try:
            await pubsub.subscribe(self._channel(self._owner))
            while True:
                message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=30.0)
                if message is not None and message["type"] == "message":
                    freed(message["data"].decode())
        finally:
            await pubsub.aclose()  # type: ignore[no-untyped-call]

    async def _ask(self, *command: Any) -> Any:
        future = self._line.send(*command)
        await asyncio.wait({future})
        return self._answer(future)

    def _answer(self, future: asyncio.Future[Any]) -> Any:
        error = future.exception()
        if error is not None:
            self._failed(str(error))
            raise error
        return future.result()

    def _failed(self, why: str) -> None:
        self.is_up, self.trouble = False, why
        self.failures_total += 1

    def _held(self, one: Held) -> tuple[Any, ...]:
        keys = (self._key(one.server, name) for name in ("leases", "scraper"))
        members = [m for lease, count in one.leases for m in self._members(lease, count)]
        times = (self._lease_ms, self._lease_ms)
        return (self._backend, 2, *keys, self._owner, *times, *members)

    def _members(self, lease: str, sequences: int) -> list[str]:
        name = f"{self._owner}/{lease}"
        return [name] if sequences == 1 else [f"{name}/{n}" for n in range(sequences)]

    def _key(self, tag: str, name: str) -> str:
        return f"{self._namespace}:{{{tag}}}:{name}"

    def _channel(self, owner: str) -> str:
        return f"{self._namespace}:wake:{owner}"


def _seen(told: Sequence[Any]) -> Seen:
    return Seen(int(told[0]), bool(told[1]))
