"""`ascend-gateway config history` and `config rollback`: what was in force, and back to it."""

import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import click

from gateway.cli.asking import Answer, Gateway
from gateway.cli.changes import as_json, listed, print_result
from gateway.cli.columns import aligned
from gateway.cli.config_diff import asked, preview_text
from gateway.cli.control import RELOAD_S
from gateway.cli.language import language_option
from gateway.cli.stop import Stop, plain
from gateway.cli.where import Where, asks_gateway
from gateway.words import Language, Words

_HISTORY: Final = "/admin/config/history"
_ROLLBACK: Final = "/admin/config/rollback"
_KEY: Final = re.compile(r"#?([A-Za-z0-9_-]{1,64})", re.ASCII)
_NOT_KEPT: Final[Mapping[str, int]] = MappingProxyType({"version_not_kept": 1})

_HEADS: Final = (
    Words("number", "序号"),
    Words("version", "版本"),
    Words("when", "时间"),
    Words("bytes", "字节"),
    Words("who", "操作者"),
    Words("", ""),
)
_IN_FORCE: Final = Words("in force", "生效中")
_NOBODY_KNOWS: Final = Words("not known", "未知")
_NOTHING: Final = Words("No version is kept yet.", "还没有保存任何版本。")
_NONE_BEFORE: Final = Words(
    "No version before the one in force is kept, so there is nothing to go back to.",
    "没有保存当前版本之前的版本，无法回滚。",
)
_IN_FORCE_ALREADY: Final = Words(
    "Version {version} is in force already; only the file on disk will be written again.",
    "版本 {version} 已经生效，只会重新写入磁盘上的文件。",
)
_WHAT_CHANGES: Final = Words(
    "Back from version {old} to version {version}:", "从版本 {old} 回滚到版本 {version}："
)
_SURE: Final = Words("Roll back?", "确认回滚？")
_NOT_USABLE: Final = Words(
    "Version {version} can't be used any more and stays out.", "版本 {version} 已无法使用，未回滚。"
)


def _key(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A version or a number as it is asked for, without the # that may stand before it."""
    if value is None:
        return None
    found = _KEY.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter("give a version such as 3f2a9c0d1b7e, or a number of the history")
    return found[1]


@click.command()
@click.argument("version", required=False, callback=_key)
@asks_gateway
@click.option("--json", "is_json", is_flag=True, help="Print JSON, for programs.")
@language_option
def history(version: str | None, where: Where, is_json: bool, language: Language) -> None:
    """List the routing files that were in force at a running gateway, the newest last.

    With VERSION, a version or a number of the list, print that file as it was.

    Exit status: 0 when the gateway tells it, 1 when it does not keep that version, 2 when the
    gateway can't be reached or does not tell.
    """
    gateway = where.gateway(language)
    if version is not None:
        text = _text(gateway, version)
        shown = as_json({"text": text}) if is_json else text
        click.echo(shown, nl=not shown.endswith("\n"))
        return
    tree = _history(gateway)
    click.echo(as_json(tree) if is_json else _table(tree, language))


@click.command()
@click.argument("version", required=False, callback=_key)
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
@asks_gateway
@click.option("--json", "is_json", is_flag=True, help="Print JSON, for programs; needs --yes.")
@language_option
@click.pass_context
def rollback(
    ctx: click.Context,
    version: str | None,
    is_sure: bool,
    where: Where,
    is_json: bool,
    language: Language,
) -> None:
    """Put a routing file in force again that was before: VERSION, or the one before this one.

    What changes is shown first. The file on disk is written too, with its comments.

    Exit status: 0 when it is in force, 1 when it is not kept, can't be used any more or was not
    wanted, 2 when the gateway can't be reached or does not tell.
    """
    if is_json and not is_sure:
        raise click.UsageError("--json does not ask; say --yes as well")
    gateway = where.gateway(language)
    wanted = version or _version_before(gateway)
    if not is_json:
        _show(gateway, wanted)
        if not is_sure:
            click.confirm(_SURE.spoken(language), abort=True, err=True)
    answer = gateway.ask(
        "POST", _ROLLBACK, {"version": wanted, "lang": language.value}, limit_s=RELOAD_S
    )
    told = answer.tree
    if answer.status not in (200, 422) or not isinstance(told, dict) or "result" not in told:
        gateway.refuse(answer, _ROLLBACK, _NOT_KEPT)
    ctx.exit(print_result(told, language, is_json=is_json))


def _show(gateway: Gateway, wanted: str) -> None:
    """Prints what going back will change; ends the command if the file can't be used any more."""
    language = gateway.language
    tree = asked(gateway, _text(gateway, wanted).encode("utf-8"), wanted)
    version, in_force = tree.get("version"), tree.get("in_force")
    if not tree.get("is_usable"):
        click.echo(preview_text(tree, "", language))
        raise Stop(1, _NOT_USABLE, language, version=wanted)
    if version == in_force:
        click.echo(plain(_IN_FORCE_ALREADY.spoken(language).format(version=version)))
        return
    head = _WHAT_CHANGES.spoken(language).format(old=in_force, version=version)
    click.echo(preview_text(tree, plain(head), language))


def _history(gateway: Gateway) -> Mapping[str, Any]:
    answer = gateway.ask("GET", _HISTORY)
    tree = answer.tree
    if answer.status != 200 or not isinstance(tree, dict) or "entries" not in tree:
        gateway.refuse(answer, _HISTORY)
    return tree


def _text(gateway: Gateway, key: str) -> str:
    path = f"{_HISTORY}/{key}"
    answer: Answer = gateway.ask("GET", path, {"lang": gateway.language.value})
    if answer.status != 200 or not answer.content_type.startswith("text/plain"):
        gateway.refuse(answer, path, _NOT_KEPT)
    return answer.text


def _version_before(gateway: Gateway) -> str:
    """The newest version that is not in force; ends the command if there is none."""
    tree = _history(gateway)
    in_force = tree.get("in_force")
    found = [entry.get("version") for entry in listed(tree, "entries") if isinstance(entry, dict)]
    others = [str(version) for version in found if version != in_force]
    if not others:
        raise Stop(1, _NONE_BEFORE, gateway.language)
    return others[-1]


def _table(tree: Mapping[str, Any], language: Language) -> str:
    rows = [_row(entry, language) for entry in listed(tree, "entries") if isinstance(entry, dict)]
    if not rows:
        return _NOTHING.spoken(language)
    return aligned([[head.spoken(language) for head in _HEADS], *rows])


def _row(entry: Mapping[str, Any], language: Language) -> list[str]:
    who = str(entry.get("who") or _NOBODY_KNOWS.spoken(language))
    cells = [
        str(entry.get("number")),
        str(entry.get("version")),
        _local_time(entry.get("when_s")),
        str(entry.get("size_bytes")),
        who,
        _IN_FORCE.spoken(language) if entry.get("is_in_force") else "",
    ]
    return [plain(cell) for cell in cells]


def _local_time(when_s: Any) -> str:
    try:
        return datetime.fromtimestamp(float(when_s)).strftime("%Y-%m-%d %H:%M:%S")
    except (OSError, OverflowError, TypeError, ValueError):
        return "-"
