"""`ascend-gateway reload`, `drain` and `undrain`: what operators do to a running gateway."""

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

import click

from gateway.cli.asking import Gateway
from gateway.cli.changes import as_json, print_result, spoken
from gateway.cli.drain_wait import Ending, State, Waited, wait_until_empty
from gateway.cli.language import language_option
from gateway.cli.stop import Stop, plain
from gateway.cli.where import Where, asks_gateway
from gateway.words import Language, Words

RELOAD_S: Final = 120.0
"""Seconds that a gateway may take for a file, since it reads certificates and waits its turn."""

_UNKNOWN: Final[Mapping[str, int]] = MappingProxyType({"backend_unknown": 1})
_LATE_STATUS: Final = 3
_UNDRAINED_STATUS: Final = 1
_INTERRUPTED_STATUS: Final = 130

_OUT: Final = Words(
    "Backend {backend} takes no new requests. Requests that run there: {count}.",
    "后端 {backend} 不再接收新请求。正在那里运行的请求数：{count}。",
)
_LASTS: Final = Words(
    "Neither a reload nor a restart of the gateway undoes this; `ascend-gateway undrain {backend}` "
    "does.",
    "重新加载或重启网关都不会撤销；用 `ascend-gateway undrain {backend}` 恢复。",
)
_LASTS_UNTIL_RESTART: Final = Words(
    "A reload does not undo this; `ascend-gateway undrain {backend}` does.",
    "重新加载不会撤销；用 `ascend-gateway undrain {backend}` 恢复。",
)
_IN: Final = Words("Backend {backend} is used again.", "后端 {backend} 恢复使用。")
_STILL: Final = Words(
    "{backend}: requests that still run there: {count}; that wait for its models: {waiting}",
    "{backend}：仍在运行的请求数：{count}；等待其模型的请求数：{waiting}",
)
_ENDINGS: Final[Mapping[Ending, Words]] = MappingProxyType(
    {
        Ending.EMPTY: Words(
            "{backend}: nothing runs there any more, after {took} s.",
            "{backend}：用时 {took} 秒，已没有请求在运行。",
        ),
        Ending.GONE: Words(
            "{backend}: the gateway has no such backend any more, after {took} s.",
            "{backend}：{took} 秒后，网关中已没有这个后端。",
        ),
        Ending.UNDRAINED: Words(
            "{backend}: somebody has put it back in, after {took} s; it takes new requests.",
            "{backend}：{took} 秒后被他人恢复使用，正在接收新请求。",
        ),
        Ending.LATE: Words(
            "{backend}: after {took} s, requests that still run there: {count}. It stays taken "
            "out; wait on with the same command.",
            "{backend}：{took} 秒后仍在运行的请求数：{count}。它保持摘除状态；"
            "再次执行同一命令可继续等待。",
        ),
    }
)
_INTERRUPTED: Final = Words(
    "{backend}: not waited for any longer; it stays taken out until `ascend-gateway undrain "
    "{backend}`.",
    "{backend}：停止等待；在执行 `ascend-gateway undrain {backend}` 之前它保持摘除状态。",
)

_json_option = click.option("--json", "is_json", is_flag=True, help="Print JSON, for programs.")


@click.command()
@asks_gateway
@_json_option
@language_option
@click.pass_context
def reload(ctx: click.Context, where: Where, is_json: bool, language: Language) -> None:
    """Read the routing file of a running gateway again and put it in force.

    A file with errors is refused as a whole; what was in force stays, and requests that run are
    not touched either way.

    Exit status: 0 when it is in force or nothing changed, 1 when it is refused (all problems are
    shown), 2 when the gateway can't be reached or does not tell.
    """
    gateway = where.gateway(language)
    path = "/admin/reload"
    answer = gateway.ask("POST", path, {"lang": language.value}, limit_s=RELOAD_S)
    tree = answer.tree
    if answer.status not in (200, 422) or not isinstance(tree, dict) or "result" not in tree:
        gateway.refuse(answer, path)
    ctx.exit(print_result(tree, language, is_json=is_json))


@click.command()
@click.argument("backend")
@click.option("--reason", default="", help="Why, for others: it is shown in /health and events.")
@click.option("--wait", "is_waiting", is_flag=True, help="Wait until nothing runs there any more.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0),
    default=3600.0,
    help="Seconds to wait at most. [default: 3600]",
)
@click.option(
    "--interval",
    "interval_s",
    type=click.FloatRange(min=0.01),
    default=1.0,
    help="Seconds between two looks while waiting. [default: 1]",
)
@asks_gateway
@_json_option
@language_option
@click.pass_context
def drain(
    ctx: click.Context,
    backend: str,
    reason: str,
    is_waiting: bool,
    timeout_s: float,
    interval_s: float,
    where: Where,
    is_json: bool,
    language: Language,
) -> None:
    """Take BACKEND out: nothing new goes there, and what runs there finishes.

    It stays out over reloads and restarts, until `undrain`.

    Exit status: 0 when it is taken out (with --wait: and nothing runs there), 1 when there is no
    such backend or somebody put it back in, 2 when the gateway can't be reached or does not tell, 3
    when the time ran out.
    """
    gateway = where.gateway(language)
    tree = _change(gateway, backend, "drain", {"reason": reason})
    if not is_json:
        _print_taken_out(tree, backend, language)
    if not is_waiting:
        if is_json:
            click.echo(as_json(tree))
        return
    waited = _wait(gateway, backend, timeout_s, interval_s, is_json=is_json)
    if is_json:
        in_flight = {"in_flight": waited.in_flight, "ended": waited.ending.value}
        click.echo(as_json({**tree, **in_flight, "took_s": round(waited.took_s, 3)}))
    else:
        click.echo(_ended(waited, backend, language))
    statuses = {Ending.LATE: _LATE_STATUS, Ending.UNDRAINED: _UNDRAINED_STATUS}
    ctx.exit(statuses.get(waited.ending, 0))


@click.command()
@click.argument("backend")
@asks_gateway
@_json_option
@language_option
def undrain(backend: str, where: Where, is_json: bool, language: Language) -> None:
    """Put BACKEND back in after `drain`.

    Exit status: 0 when it is used again, 1 when there is no such backend, 2 when the gateway can't
    be reached or does not tell.
    """
    tree = _change(where.gateway(language), backend, "undrain", {})
    if is_json:
        click.echo(as_json(tree))
        return
    click.echo(_IN.spoken(language).format(backend=backend))
    _print_note(tree, language)


def _change(
    gateway: Gateway, backend: str, action: str, query: Mapping[str, str]
) -> Mapping[str, Any]:
    path = f"/admin/backends/{quote(backend, safe='')}/{action}"
    answer = gateway.ask("POST", path, {**query, "lang": gateway.language.value})
    tree = answer.tree
    if answer.status != 200 or not isinstance(tree, dict):
        gateway.refuse(answer, path, _UNKNOWN)
    return tree


def _look(gateway: Gateway, backend: str) -> State | None:
    """One look; None when there is no such backend."""
    path = f"/admin/backends/{quote(backend, safe='')}"
    answer = gateway.ask("GET", path, {"lang": gateway.language.value})
    tree = answer.tree
    if answer.error.get("code") == "backend_unknown":
        return None
    if answer.status != 200 or not isinstance(tree, dict):
        gateway.refuse(answer, path)
    return State(_count(tree, "in_flight"), _count(tree, "waiting"), bool(tree.get("is_draining")))


def _count(tree: Mapping[str, Any], name: str) -> int:
    found = tree.get(name)
    return found if isinstance(found, int) else 0


def _wait(
    gateway: Gateway, backend: str, timeout_s: float, interval_s: float, *, is_json: bool
) -> Waited:
    """Waits and tells how far it is, beside the JSON if that is printed."""
    language = gateway.language

    def tell(state: State) -> None:
        text = _STILL.spoken(language)
        told = text.format(backend=backend, count=state.in_flight, waiting=state.waiting)
        click.echo(told, err=is_json)

    try:
        return wait_until_empty(
            lambda: _look(gateway, backend),
            tell,
            timeout_s=timeout_s,
            interval_s=interval_s,
            now=time.monotonic,
            sleep=time.sleep,
        )
    except KeyboardInterrupt as error:
        raise Stop(_INTERRUPTED_STATUS, _INTERRUPTED, language, backend=backend) from error


def _ended(waited: Waited, backend: str, language: Language) -> str:
    text = _ENDINGS[waited.ending].spoken(language)
    return text.format(backend=backend, took=f"{waited.took_s:.0f}", count=waited.in_flight)


def _print_taken_out(tree: Mapping[str, Any], backend: str, language: Language) -> None:
    count = _count(tree, "in_flight")
    click.echo(_OUT.spoken(language).format(backend=backend, count=count))
    lasts = _LASTS if tree.get("note") is None else _LASTS_UNTIL_RESTART
    click.echo(lasts.spoken(language).format(backend=backend))
    _print_note(tree, language)


def _print_note(tree: Mapping[str, Any], language: Language) -> None:
    note = plain(spoken(tree.get("note"), language))
    if note:
        click.echo(note)
