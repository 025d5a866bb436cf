"""URLs of the store: what they lead to, and what is said of those that lead nowhere."""

import pytest
from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster

from gateway.store.address import connect, read_address


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:geheim@h:6380/2", "redis://h:6380/2"),
        ("rediss://u:geheim@h", "rediss://h"),
        ("redis+sentinel://:geheim@a,b:1/main/3?sentinel_password=geheim", "redis+sentinel://a,b:1/main/3"),
        ("redis+cluster://a:7000,b:7001", "redis+cluster://a:7000,b:7001"),
    ],
)  # fmt: skip
async def test_the_password_is_not_shown(url: str, shown: str) -> None:
    address = read_address(url)
    assert address.shown == shown
    client = connect(address, "test")
    assert isinstance(client, Redis | RedisCluster)
    await client.aclose()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://:geheim@h", "begins with 'http'"),
        ("h:6379", "must be one of"),
        ("redis+sentinel://:geheim@h:1", "name of its master"),
        ("redis+cluster://:1", "no host"),
    ],
)
def test_what_is_wrong_is_told_without_the_password(url: str, told: str) -> None:
    with pytest.raises(ValueError, match=told) as caught:
        read_address(url)
    assert "geheim" not in str(caught.value)
