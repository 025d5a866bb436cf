"""Asking a server what it is: all that a vLLM server says of itself, in one record."""

import asyncio
import ssl
from dataclasses import replace
from typing import Final, NamedTuple

from gateway.config.url import UrlProblem, parse_backend_url
from gateway.fleet.account import Account, Trouble, TroubleKind
from gateway.fleet.engine_facts import engine_facts
from gateway.fleet.health.evidence import Activity
from gateway.fleet.shown import shown
from gateway.fleet.telemetry.activity import read_activity
from gateway.fleet.telemetry.capacity import CONFIG, read_capacity
from gateway.fleet.telemetry.exposition import samples
from gateway.upstream.asking import FAILURES, Answer, Asker, trouble_of
from gateway.upstream.decode_speed import decode_speed
from gateway.upstream.probe import cards_in
from gateway.words import Words

_PATHS: Final = ("v1/models", "version", "metrics", "server_info?config_format=json")
# Any of them shows that it is vLLM, and carries its name.
_NAMED_BY: Final = ("vllm:num_requests_running", "vllm:generation_tokens_total")
_MOST_RUNNING: Final = 1_000_000_000
_KEY_REFUSED: Final = Words("it does not accept the key that it was given", "它不接受所给的密钥")
_KEY_WANTED: Final = Words("it wants a key, and was given none", "它要求密钥，但没有提供")


class _Metrics(NamedTuple):
    """What /metrics told; all is empty where it could not be read."""

    activity: Activity | None = None
    kv_tokens: int | None = None
    name: str | None = None


async def inquire(
    url: str,
    *,
    api_key: bytes | None = None,
    context: ssl.SSLContext | None = None,
    server_name: str | None = None,
    limit_s: float,
    speed_of: str | None = None,
    is_speed_needed: bool = False,
) -> Account:
    """Asks the server at `url` (any spelling that a routing file takes) what it is.

    Takes `limit_s` seconds at most, for everything; never raises for what a server does. With
    `speed_of`, a served name, it also has 17 tokens made and measures their speed, if nothing else
    runs there; with `is_speed_needed` also where /server_info tells already if graphs are used.
    `context` and `server_name` are those of an https backend; None trusts the usual authorities.
    """
    try:
        base = parse_backend_url(url).base
    except UrlProblem as problem:
        return Account(shown(url), Trouble(TroubleKind.BAD_URL, problem.told))
    deadline_s = asyncio.get_running_loop().time() + limit_s
    async with Asker(base, api_key, context, server_name, limit_s) as asker:
        try:
            async with asyncio.timeout_at(deadline_s):
                health = await asker.get("health")
        except FAILURES as error:
            return Account(base, trouble_of(error, limit_s))
        models, version, metrics, info = await asyncio.gather(
            *(_ask(asker, path, deadline_s) for path in _PATHS)
        )
        told = _metrics(metrics)
        cards = None if models is None else cards_in(models.json())
        account = Account(
            url=base,
            cards=cards,
            version=None if version is None else _version(version.json()),
            engine=None if info is None else engine_facts(info.json()),
            metrics_name=told.name,
            kv_tokens=told.kv_tokens,
            running=None if told.activity is None else _at_work(told.activity),
        )
        account = replace(account, failure=_failure(health, models, account, api_key))
        if speed_of is None or not _is_measured(account, speed_of, is_speed_needed):
            return account
        speed = await decode_speed(asker, speed_of, told.activity, deadline_s)
        return replace(account, decode_tokens_per_s=speed)


async def _ask(asker: Asker, path: str, deadline_s: float) -> Answer | None:
    try:
        async with asyncio.timeout_at(deadline_s):
            return await asker.get(path)
    except FAILURES:
        return None


def _is_measured(account: Account, served_name: str, is_needed: bool) -> bool:
    """Whether a stream is to be timed: it serves the name, and does not tell its mode itself."""
    if account.failure or all(card.id != served_name for card in account.cards or ()):
        return False
    is_told = account.engine is not None and account.engine.is_eager is not None
    return is_needed or not is_told


def _failure(
    health: Answer, models: Answer | None, account: Account, api_key: bytes | None
) -> Trouble | None:
    """What is wrong with a server that answers; None for a healthy vLLM."""
    if models is not None and models.status in (401, 403):
        return Trouble(TroubleKind.KEY_REFUSED, _KEY_REFUSED if api_key else _KEY_WANTED)
    if not _is_vllm(account):
        return _not_vllm(health, account)
    if health.status != 200:
        status = health.status
        return Trouble(
            TroubleKind.UNHEALTHY,
            Words(
                f"its /health answers {status}, so the gateway takes it for down",
                f"/health 返回 {status}，网关会认为它不可用",
            ),
        )
    return None


def _is_vllm(account: Account) -> bool:
    """By what nobody else says: the owner of its models, its metrics, its configuration."""
    is_owner = any(card.owned_by == "vllm" for card in account.cards or ())
    return is_owner or account.metrics_name is not None or account.engine is not None


def _not_vllm(health: Answer, account: Account) -> Trouble:
    if 300 <= health.status < 400 and health.location:
        target = shown(health.location)
        return Trouble(
            TroubleKind.NOT_VLLM,
            Words(
                f"it sends elsewhere: /health answers {health.status} with {target}",
                f"它要求重定向：/health 返回 {health.status}，指向 {target}",
            ),
        )
    owners = sorted({shown(card.owned_by) for card in account.cards or () if card.owned_by})
    if owners:
        named = ", ".join(owners[:3])
        return Trouble(
            TroubleKind.NOT_VLLM,
            Words(
                f"it is no vLLM server: its models are owned by {named}",
                f"它不是 vLLM 服务：其模型的 owned_by 为 {named}",
            ),
        )
    return Trouble(
        TroubleKind.NOT_VLLM,
        Words(
            f"it is no vLLM server: /health answers {health.status}, and neither /v1/models nor "
            "/metrics is that of vLLM",
            f"它不是 vLLM 服务：/health 返回 {health.status}，"
            "/v1/models 和 /metrics 也不是 vLLM 的内容",
        ),
    )


def _metrics(answer: Answer | None) -> _Metrics:
    if answer is None or answer.status != 200:
        return _Metrics()
    text = answer.text
    activity = read_activity(text)
    found = list(samples(text, (*_NAMED_BY, CONFIG)))
    names = [one.labels.get("model_name", "") for one in found if one.name != CONFIG]
    configs = [one.labels for one in found if one.name == CONFIG]
    return _Metrics(
        activity,
        read_capacity(configs).tokens,
        names[0] if names else None,
    )


def _at_work(activity: Activity) -> int:
    return int(min(activity.running + activity.waiting, _MOST_RUNNING))


def _version(told: object) -> str | None:
    version = told.get("version") if isinstance(told, dict) else None
    return shown(version) or None if isinstance(version, str) else None
