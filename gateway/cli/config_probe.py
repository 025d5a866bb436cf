"""Asking every backend of a routing file what it is, for `config check --probe`."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from statistics import median
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.config.members import members
from gateway.config.schema import RoutingConfig
from gateway.config.vocabulary import Tier
from gateway.fleet.account import Account, Trouble, TroubleKind
from gateway.fleet.account_drift import differences
from gateway.fleet.difference import Difference, Found, Weight
from gateway.fleet.speed import eager_border_s
from gateway.upstream.inquiry import inquire
from gateway.upstream.keys import read_backend_keys
from gateway.upstream.tls import build_context
from gateway.upstream.tls_of import tls_of
from gateway.words import Words

# Each may need five connections, and a process has 1024 files as a rule.
_AT_ONCE: Final = 64


class Measuring(Enum):
    """Whose speed is measured, if it is idle."""

    NOBODY = auto()
    UNTOLD = auto()
    """Graph backends that do not tell their mode, where the speed can tell it."""
    ALL = auto()


@dataclass(frozen=True, slots=True)
class Probed:
    """One backend, what it said, and how that differs from the file."""

    backend: BackendConfig
    account: Account
    found: tuple[Found, ...]


async def probe_all(
    routing: RoutingConfig, environ: Mapping[str, str], limit_s: float, measuring: Measuring
) -> tuple[Probed, ...]:
    """Asks all enabled backends, 64 at once, each for `limit_s` seconds at most.

    A backend whose speed is measured makes 17 tokens.
    """
    enabled = [backend for backend in routing.backends if backend.enabled]
    keys, unset = await asyncio.to_thread(read_backend_keys, enabled, environ)
    missing = dict(unset)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def ask(backend: BackendConfig) -> Account:
        async with gate:
            return await _ask(backend, keys.get(backend.name), limit_s, measuring)

    said = await asyncio.gather(*map(ask, enabled))
    accounts = {backend.name: account for backend, account in zip(enabled, said, strict=True)}
    wanted = _served_names(routing)
    probed = []
    for backend in enabled:
        account = accounts[backend.name]
        twin = _twin_rate(routing, backend, accounts)
        found = differences(backend, wanted[backend.name], account, twin)
        if backend.name in missing:
            found = (_key_missing(backend, missing[backend.name]), *found)
        probed.append(Probed(backend, account, found))
    return tuple(probed)


async def _ask(
    backend: BackendConfig, key: bytes | None, limit_s: float, measuring: Measuring
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
    is_all = measuring is Measuring.ALL
    is_of_use = measuring is Measuring.UNTOLD and eager_border_s(backend, None) is not None
    return await inquire(
        backend.base_url,
        api_key=key,
        context=context,
        server_name=None if tls is None else tls.server_name,
        limit_s=limit_s,
        speed_of=backend.served_name if is_all or is_of_use else None,
        is_speed_needed=is_all,
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


def _twin_rate(
    routing: RoutingConfig, backend: BackendConfig, accounts: Mapping[str, Account]
) -> float | None:
    """The measured speed of the eager backends that serve a model together with `backend`."""
    rates = []
    for model in routing.models:
        together = [member.backend for member in members(routing, model)]
        if backend in together:
            rates += _eager_rates(together, accounts)
    return median(rates) if rates else None


def _eager_rates(backends: Sequence[BackendConfig], accounts: Mapping[str, Account]) -> list[float]:
    told = [accounts[b.name] for b in backends if b.tier is Tier.EAGER and b.name in accounts]
    # One that runs graphs after all is no measure of what eager takes.
    slow = [one for one in told if one.engine is None or one.engine.is_eager is not False]
    return [one.decode_tokens_per_s for one in slow if one.decode_tokens_per_s is not None]


def _key_missing(backend: BackendConfig, why: Words) -> Found:
    return Found(
        backend.name,
        Difference.KEY_MISSING,
        Weight.WARNING,
        Words(f"its key is not to be had here: {why.en}", f"在此处无法取得它的密钥：{why.zh}"),
        Words(
            "Set it where the gateway runs; this check asked without a key.",
            "请在网关运行处设置；本次检查未使用密钥。",
        ),
    )
