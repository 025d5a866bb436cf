"""Asking every backend of a routing file what it is, for `config check --probe`."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.config.members import members
from gateway.config.schema import RoutingConfig
from gateway.config.vocabulary import Tier
from gateway.fleet.account import Account, Trouble, TroubleKind
from gateway.fleet.account_drift import Difference, Found, Weight, differences
from gateway.upstream.inquiry import inquire
from gateway.upstream.keys import read_backend_keys
from gateway.upstream.tls import build_context
from gateway.upstream.tls_of import tls_of
from gateway.words import Words

_AT_ONCE: Final = 32


@dataclass(frozen=True, slots=True)
class Probed:
    """One backend, what it said, and how that differs from the file."""

    backend: BackendConfig
    account: Account
    found: tuple[Found, ...]


async def probe_all(
    routing: RoutingConfig, environ: Mapping[str, str], limit_s: float, *, with_speed: bool
) -> tuple[Probed, ...]:
    """Asks all enabled backends at once, each for `limit_s` seconds at most.

    With `with_speed`, graph backends that do not tell their mode and are idle make 17 tokens.
    """
    enabled = [backend for backend in routing.backends if backend.enabled]
    keys, unset = read_backend_keys(enabled, environ)
    missing = dict(unset)
    gate = asyncio.Semaphore(_AT_ONCE)
    wanted = _served_names(routing)

    async def one(backend: BackendConfig) -> Probed:
        async with gate:
            account = await _ask(backend, keys.get(backend.name), limit_s, with_speed=with_speed)
        found = differences(backend, wanted[backend.name], account)
        if backend.name in missing:
            found = (_key_missing(backend, missing[backend.name]), *found)
        return Probed(backend, account, found)

    return tuple(await asyncio.gather(*map(one, enabled)))


async def _ask(
    backend: BackendConfig, key: bytes | None, limit_s: float, *, with_speed: bool
) -> Account:
    tls = tls_of(backend)
    context: ssl.SSLContext | None = None
    if tls is not None:
        try:
            context = await asyncio.to_thread(build_context, tls)
        except (OSError, ValueError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or str(error)
            told = Words(f"its TLS files can't be used: {why}", f"其 TLS 文件无法使用：{why}")
            return Account(backend.base_url, Trouble(TroubleKind.TLS, told))
    is_measured = with_speed and backend.tier is Tier.GRAPH
    return await inquire(
        backend.base_url,
        api_key=key,
        context=context,
        server_name=None if tls is None else tls.server_name,
        limit_s=limit_s,
        speed_of=backend.served_name if is_measured else None,
    )


def _served_names(routing: RoutingConfig) -> dict[str, frozenset[str]]:
    """The names that each backend is asked for; one of no model is asked for its own."""
    wanted: dict[str, set[str]] = {}
    for model in routing.models:
        for member in members(routing, model):
            wanted.setdefault(member.backend.name, set()).add(member.served_name)
    return {
        backend.name: frozenset(wanted.get(backend.name) or {backend.served_name})
        for backend in routing.backends
    }


def _key_missing(backend: BackendConfig, why: str) -> Found:
    return Found(
        backend.name,
        Difference.KEY_MISSING,
        Weight.WARNING,
        Words(f"its key is not to be had here: {why}", f"在此处无法取得它的密钥：{why}"),
        Words(
            "Set it where the gateway runs; this check asked without a key.",
            "请在网关运行处设置；本次检查未使用密钥。",
        ),
    )
