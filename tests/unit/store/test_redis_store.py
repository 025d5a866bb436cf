"""The store against a real redis-server: places, their end, and answers that do not come."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.store.redis_store import RedisStore
from gateway.store.shared import Claim, Held, Published, StoreError
from tests.support.redis_server import RedisServer, running_redis
from tests.support.waiting import eventually


@pytest.fixture
async def redis() -> AsyncIterator[RedisServer]:
    async with running_redis() as server:
        yield server


async def opened(redis: RedisServer, owner: str) -> RedisStore:
    store = RedisStore(redis.url, "test", owner)
    await store.exchange(b"", b"", [])
    return store


async def test_places_are_given_up_to_the_limit(redis: RedisServer) -> None:
    one, other = await opened(redis, "one"), await opened(redis, "other")
    told = [await one.claim(Claim("h:1", str(n), 1, 3)) for n in range(2)]
    told.append(await other.claim(Claim("h:1", "0", 2, 3)))
    told.append(await other.claim(Claim("h:1", "1", 1, 3)))
    assert [granted.is_granted for granted in told] == [True, True, False, True]
    assert [granted.held for granted in told] == [0, 1, 2, 2]
    # A retry at the same backend has its place in any case.
    assert (await other.claim(Claim("h:1", "2", 1, None))).is_granted
    one.release("h:1", "0", 1, None)
    one.release("h:1", "0", 1, None)
    seen = (await one.exchange(b"", b"", [Held("h:1", [("1", 1)])])).backends["h:1"]
    assert seen.held == 3
    for store in (one, other):
        await store.close()


async def test_the_first_one_may_always_try(redis: RedisServer) -> None:
    store = await opened(redis, "one")
    assert (await store.claim(Claim("h:1", "0", 5, 1))).is_granted
    await store.close()


async def test_places_of_a_gateway_that_is_gone_are_free_within_seconds(
    redis: RedisServer,
) -> None:
    one, other = await opened(redis, "one"), await opened(redis, "other")
    await one.claim(Claim("h:1", "0", 1, 1))
    assert not (await other.claim(Claim("h:1", "0", 1, 1))).is_granted

    async def is_free() -> bool:
        return (await other.claim(Claim("h:1", "1", 1, 1))).is_granted

    await eventually(is_free, 15.0)
    for store in (one, other):
        await store.close()


async def test_what_the_store_forgot_is_told_again(redis: RedisServer) -> None:
    store = await opened(redis, "one")
    await store.claim(Claim("h:1", "0", 1, 4))
    async with redis.client() as client:
        await client.flushall()
    held = [Held("h:1", [("0", 1), ("1", 2)])]
    for _ in range(3):
        seen = (await store.exchange(b"", b"", held)).backends["h:1"]
        assert seen.held == 3
    await store.close()


async def test_a_freed_place_wakes_whom_it_is_given_to(redis: RedisServer) -> None:
    one, other = await opened(redis, "one"), await opened(redis, "other")
    heard: asyncio.Queue[str] = asyncio.Queue()
    listening = asyncio.create_task(other.listen(heard.put_nowait))
    async with redis.client() as client:

        async def listens() -> bool:
            return bool((await client.pubsub_numsub("test:wake:other"))[0][1])

        await eventually(listens)
    await one.claim(Claim("h:1", "0", 1, 1))
    one.release("h:1", "0", 1, "other")
    assert await asyncio.wait_for(heard.get(), 10.0) == "h:1"
    listening.cancel()
    for store in (one, other):
        await store.close()


async def test_one_reads_for_all_and_bulletins_come_from_all(redis: RedisServer) -> None:
    one, other = await opened(redis, "one"), await opened(redis, "other")
    first = await one.exchange(b"I am one", b"", [Held("h:1", [])])
    assert first.backends["h:1"].is_scraper
    told = await other.exchange(b"I am other", b"prompts", [Held("h:1", [])])
    assert not told.backends["h:1"].is_scraper
    assert told.bulletins == {"one": b"I am one"}
    again = await one.exchange(b"", b"", [])
    assert (again.bulletins, list(again.prompts)) == ({"other": b"I am other"}, [b"prompts"])
    assert list((await one.exchange(b"", b"", [])).prompts) == []
    await other.close()
    assert (await one.exchange(b"", b"", [])).bulletins == {}
    await one.close()


async def test_drains_and_the_published_file(redis: RedisServer) -> None:
    store = await opened(redis, "one")
    assert await store.published() is None
    config = Published("v1", "models: [] # 模型", "me")
    await store.publish(config)
    assert await store.published() == config
    await store.set_drain("b", b"why")
    before = await store.exchange(b"", b"", [])
    assert (await store.drains(), before.config_version) == ({"b": b"why"}, "v1")
    await store.set_drain("b", None)
    after = await store.exchange(b"", b"", [])
    assert await store.drains() == {}
    assert after.drains_version != before.drains_version
    await store.close()


async def test_a_store_that_hangs_holds_nobody_up_and_comes_back(redis: RedisServer) -> None:
    store = await opened(redis, "one")
    redis.hang()
    with pytest.raises(StoreError, match="no answer within"):
        await store.claim(Claim("h:1", "0", 1, 1))
    assert not store.is_up
    with pytest.raises(StoreError):
        await store.claim(Claim("h:1", "1", 1, 1))
    with pytest.raises(StoreError):
        await store.exchange(b"", b"", [])
    redis.go_on()

    async def is_back() -> bool:
        try:
            await store.exchange(b"", b"", [])
        except StoreError:
            return False
        return store.is_up

    await eventually(is_back)
    await store.close()
