"""`ascend-gateway config diff`: what a routing file changes, against a gateway or another file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from gateway.cli.asking import Gateway
from gateway.cli.changes import as_json, changes_text, listed, problems_text
from gateway.cli.language import language_option
from gateway.cli.stop import NO_ANSWER, Stop, plain
from gateway.cli.where import Where, asks_gateway
from gateway.config.diff import diff as difference
from gateway.config.diff_words import describe
from gateway.config.load import Loaded, load_bytes
from gateway.config.problems import Problem
from gateway.words import Language, Words

_PATH: Final = "/admin/config/diff"
_LIMIT_S: Final = 60.0
_NAME_CHARS: Final = 500
_ERRORS_STATUS: Final = 1
_CHANGES_STATUS: Final = 3

_UNREADABLE: Final = Words("{file}: can't be read: {why}", "{file}：无法读取：{why}")
_NOT_USABLE: Final = Words("{file}: not usable", "{file}：无法使用")
_AGAINST_GATEWAY: Final = Words(
    "{file} (version {version}) instead of version {old}, which is in force at {base}:",
    "{file}（版本 {version}）替换 {base} 上生效的版本 {old}：",
)
_AGAINST_FILE: Final = Words(
    "{file} (version {version}) instead of {other} (version {old}):",
    "{file}（版本 {version}）替换 {other}（版本 {old}）：",
)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path), required=False)
@click.option("--exit-code", "is_telling", is_flag=True, help="Exit with 3 if something changes.")
@asks_gateway
@click.option("--json", "is_json", is_flag=True, help="Print JSON, for programs.")
@language_option
@click.pass_context
def diff(
    ctx: click.Context,
    file: Path,
    new: Path | None,
    is_telling: bool,
    where: Where,
    is_json: bool,
    language: Language,
) -> None:
    """Tell what would change if FILE came into force at a running gateway.

    With NEW no gateway is asked: it tells what NEW changes where FILE is in force.

    Exit status: 0 when the file can be used, 1 when a file has errors (all are shown), 2 when a
    file can't be read or the gateway can't be reached or does not tell; with --exit-code 3 when the
    file can be used and something changes.
    """
    if new is None:
        gateway = where.gateway(language)
        tree = asked(gateway, read_file(file, language), str(file))
        names = {"base": gateway.base, "old": tree.get("in_force")}
        head = _AGAINST_GATEWAY
    else:
        tree = _compared(file, new, language)
        names = {"other": str(file), "old": tree["old_version"]}
        head = _AGAINST_FILE
    if is_json:
        click.echo(as_json(tree))
    else:
        shown = str(new or file)
        values = {"file": shown, "version": tree.get("version"), **names}
        click.echo(preview_text(tree, plain(head.spoken(language).format(**values)), language))
        if not tree.get("is_usable"):
            click.echo(plain(_NOT_USABLE.spoken(language).format(file=tree.get("file", shown))))
    if not tree.get("is_usable"):
        ctx.exit(_ERRORS_STATUS)
    ctx.exit(_CHANGES_STATUS if is_telling and tree.get("version") != names["old"] else 0)


def asked(gateway: Gateway, data: bytes, name: str) -> Mapping[str, Any]:
    """What the file would change at the gateway: `version`, `in_force`, `is_usable` and lists."""
    loaded = _not_text(data, name)
    if loaded is not None:
        return _as_tree(loaded.problems, loaded.version_hash)
    query = {"file": plain(name)[-_NAME_CHARS:], "lang": gateway.language.value}
    answer = gateway.ask("POST", _PATH, query, content=data, limit_s=_LIMIT_S)
    tree = answer.tree
    if answer.status != 200 or not isinstance(tree, dict) or "is_usable" not in tree:
        gateway.refuse(answer, _PATH)
    return tree


def preview_text(tree: Mapping[str, Any], head: str, language: Language) -> str:
    """What would change, below a line that says where; or all problems of the file."""
    if not tree.get("is_usable"):
        return problems_text(listed(tree, "problems"), language)
    return f"{head}\n{changes_text(listed(tree, 'changes'), language)}"


def _compared(old: Path, new: Path, language: Language) -> dict[str, Any]:
    """The same for two files, without a gateway."""
    before, after = (load_bytes(read_file(file, language), str(file)) for file in (old, new))
    broken = [loaded for loaded in (before, after) if loaded.config is None]
    versions = {"old_version": before.version_hash}
    if before.config is None or after.config is None:
        problems = [problem for loaded in broken for problem in loaded.problems]
        name = str(old if before.config is None else new)
        return {**_as_tree(problems, after.version_hash), **versions, "file": name}
    told = describe(difference(before.config, after.config))
    return {
        "version": after.version_hash,
        "is_usable": True,
        "changes": [words._asdict() for words in told],
        "problems": [_as_item(problem) for problem in after.problems],
        **versions,
    }


def read_file(file: Path, language: Language) -> bytes:
    """What the file holds; ends the command when it can't be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        why = error.strerror or str(error)
        raise Stop(NO_ANSWER, _UNREADABLE, language, file=file, why=why) from error


def _not_text(data: bytes, name: str) -> Loaded | None:
    """What is wrong with bytes that are no text, for which there is no need to ask anybody."""
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return load_bytes(data, name)
    return None


def _as_tree(problems: Any, version: str) -> dict[str, Any]:
    return {
        "version": version,
        "is_usable": False,
        "changes": [],
        "problems": [_as_item(problem) for problem in problems],
    }


def _as_item(problem: Problem) -> dict[str, Any]:
    text = {language.value: problem.render(language) for language in Language}
    return {**problem.as_dict(), "text": text}
