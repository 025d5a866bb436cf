"""From the URL of the store to a client of Redis: one server, Sentinel or Cluster, with TLS or not.

redis://, rediss:// and unix:// are those of redis-py (redis.connection.parse_url), with its query
parameters, such as ssl_ca_certs. `redis+sentinel://USER:PASSWORD@HOST:26379,HOST:26379/MASTER` and
`redis+cluster://HOST:6379,HOST:6379` are ours, and `rediss+...` for TLS.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from redis.asyncio import Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff

Client = Redis | RedisCluster

_CONNECT_S: Final = 1.0
_ANSWER_S: Final = 1.0
_SCHEMES: Final = (
    "redis",
    "rediss",
    "unix",
    "redis+sentinel",
    "rediss+sentinel",
    "redis+cluster",
    "rediss+cluster",
)
_PORTS: Final[Mapping[str, int]] = MappingProxyType({"sentinel": 26379, "cluster": 6379})


class StoreAddress(NamedTuple):
    """Where the store is. `shown` is the URL without user and password."""

    url: str
    scheme: str
    shown: str
    hosts: tuple[tuple[str, int], ...]
    path: str
    options: dict[str, Any]


def read_address(url: str) -> StoreAddress:
    """Reads the URL; raises ValueError that says what is wrong with it, without its password."""
    parts = urlsplit(url.strip())
    if parts.scheme not in _SCHEMES:
        raise ValueError(
            f"the store's URL begins with {parts.scheme or 'nothing'!r}; it must be one of "
            f"{', '.join(_SCHEMES)}"
        )
    access, _, places = parts.netloc.rpartition("@")
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    kind = parts.scheme.partition("+")[2]
    hosts: tuple[tuple[str, int], ...] = ()
    if kind:
        hosts = tuple(_host(place, _PORTS[kind]) for place in places.split(","))
        user, _, password = access.partition(":")
        options |= {"username": unquote(user)} if user else {}
        options |= {"password": unquote(password)} if password else {}
        if parts.scheme.startswith("rediss"):
            options["ssl"] = True
        if kind == "sentinel" and not parts.path.strip("/"):
            raise ValueError("a Sentinel URL ends with the name of its master, such as /mymaster")
    shown = f"{parts.scheme}://{places}{parts.path}"
    return StoreAddress(url.strip(), parts.scheme, shown, hosts, parts.path.strip("/"), options)


def connect(address: StoreAddress, name: str) -> Client:
    """A client that gives up soon and never tries again by itself; `name` is shown by the server.

    Nothing is sent yet.
    """
    common: dict[str, Any] = {
        "socket_connect_timeout": _CONNECT_S,
        "socket_timeout": _ANSWER_S,
        "client_name": name,
    }
    never = Retry(NoBackoff(), 0)
    if address.scheme.endswith("cluster"):
        nodes = [ClusterNode(host, port) for host, port in address.hosts]
        return RedisCluster(startup_nodes=nodes, retry=never, **address.options, **common)
    if address.scheme.endswith("sentinel"):
        master, _, number = address.path.partition("/")
        told = dict(address.options)
        secret = told.pop("sentinel_password", None)
        watch = {**common, "password": secret} if secret else common
        sentinel = Sentinel(  # type: ignore[no-untyped-call]
            list(address.hosts), sentinel_kwargs=watch, retry=never, **told
        )
        client: Redis = sentinel.master_for(master, db=int(number or 0), **common)
        return client
    return Redis.from_url(address.url, retry=never, **common)


def _host(place: str, port: int) -> tuple[str, int]:
    found = urlsplit(f"//{place}")
    if not found.hostname:
        raise ValueError(f"the store's URL has no host in {place!r}")
    return found.hostname, found.port or port
