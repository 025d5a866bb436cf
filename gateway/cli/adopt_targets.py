"""The servers that `adopt` asks: addresses with ranges of ports, all asked at once."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gateway.fleet.account import Account, TroubleKind
from gateway.upstream.inquiry import inquire

_MOST: Final = 4096
_AT_ONCE: Final = 64
_PORTS: Final = re.compile(
    r"(?P<scheme>https?://)?(?P<host>\[[^\]]+\]|[^:/\s]+)(?::(?P<ports>[\d,\-]+))?(?P<path>/\S*)?"
)
_NOBODY: Final = frozenset({TroubleKind.REFUSED, TroubleKind.UNREACHABLE, TroubleKind.TIMEOUT})


@dataclass(frozen=True, slots=True)
class Target:
    """An address to ask; one of many is not missed when nobody answers there."""

    url: str
    is_one_of_many: bool


def targets_in(address: str) -> tuple[Target, ...]:
    """`http://host:12320-12329`, `host:8000,8001` or a single address, as addresses of one port.

    Raises ValueError for what is none, and for more than 4096 ports.
    """
    match = _PORTS.fullmatch(address.strip())
    if match is None:
        raise ValueError(f"{address!r} is no address such as http://host:12320-12329")
    scheme, host, path = match["scheme"] or "http://", match["host"], match["path"] or ""
    if match["ports"] is None:
        return (Target(f"{scheme}{host}{path}", is_one_of_many=False),)
    ports = list(dict.fromkeys(_ports(match["ports"], address)))
    many = len(ports) > 1
    return tuple(Target(f"{scheme}{host}:{port}{path}", many) for port in ports)


def _ports(text: str, address: str) -> Iterator[int]:
    count = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise ValueError(f"{part!r} in {address!r} is no port and no range of ports")
        low, high = int(first), int(last or first)
        if not 0 < low <= high <= 65535:
            raise ValueError(f"{part!r} in {address!r} is no range within 1 to 65535")
        count += high - low + 1
        if count > _MOST:
            raise ValueError(f"{address!r} has more than {_MOST} ports; give fewer")
        yield from range(low, high + 1)


async def ask_all(
    targets: tuple[Target, ...], key: bytes | None, limit_s: float
) -> tuple[Account, ...]:
    """What they say, in order; those of a range where nobody listens are left out."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(target: Target) -> Account:
        async with gate:
            return await inquire(target.url, api_key=key, limit_s=limit_s)

    accounts = await asyncio.gather(*map(one, targets))
    return tuple(
        account
        for target, account in zip(targets, accounts, strict=True)
        if not (target.is_one_of_many and account.failure and account.failure.kind in _NOBODY)
    )
