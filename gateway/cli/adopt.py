"""`ascend-gateway adopt`: a routing file from scripts, logs and running servers."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from gateway.adoption.draft import draft
from gateway.adoption.merging import merge
from gateway.adoption.rules import traps_of
from gateway.adoption.telling import in_order, severity_of
from gateway.adoption.texts import Severity
from gateway.cli.adopt_log import logs_json, logs_text
from gateway.cli.adopt_report import as_json, findings_text
from gateway.cli.adopt_sources import Unreadable, read_all
from gateway.cli.adopt_targets import Target, ask_all, targets_in
from gateway.cli.language import language_option
from gateway.fleet.account import Account
from gateway.words import Language, Words

F = TypeVar("F", bound=Callable[..., Any])

_LIMIT_S: Final = 5.0
_BAD: Final = (Severity.CONTRADICTION, Severity.TRAP)
_CANT_READ: Final = Words("{file}: can't be read: {why}", "{file}：无法读取：{why}")
_EXISTS: Final = Words(
    "{file} exists; nothing was written. Name another file, or say --force.",
    "{file} 已存在，未写入任何内容。请换一个文件名，或使用 --force。",
)
_CANT_WRITE: Final = Words("{file}: can't be written: {why}", "{file}：无法写入：{why}")
_WRITTEN: Final = Words("written to {file}", "已写入 {file}")
_FILE: Final = click.Path(path_type=Path, allow_dash=True)


@click.group()
def adopt() -> None:
    """Write a routing file from what exists: scripts, manifests, logs, running servers."""


def _common(command: F) -> F:
    """The options that all ways to adopt share."""
    options = (
        click.option(
            "--host",
            default="127.0.0.1",
            show_default=True,
            help="Where the gateway reaches the servers of scripts and containers.",
        ),
        click.option(
            "-o",
            "--output",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write the routing file there instead of standard output.",
        ),
        click.option("--force", is_flag=True, help="Overwrite the file of --output."),
        click.option(
            "--format",
            "form",
            type=click.Choice(["text", "json"]),
            default="text",
            help="text: the routing file, and findings on standard error; json: all in one.",
        ),
        click.option(
            "--strict", is_flag=True, help="Exit with 1 if there are contradictions or traps."
        ),
        language_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


def _asking(command: F) -> F:
    """The options for asking servers."""
    options = (
        click.option(
            "--api-key-env", help="Environment variable with the key that the servers want."
        ),
        click.option(
            "--timeout",
            "limit_s",
            type=click.FloatRange(min=0.1, max=600.0),
            default=_LIMIT_S,
            show_default=True,
            help="Seconds for each server.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@adopt.command()
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--log", "logs", multiple=True, type=_FILE, help="An engine's log, to merge.")
@click.option("--probe", "addresses", multiple=True, help="A running server to ask, to merge.")
@_asking
@_common
@click.pass_context
def script(
    ctx: click.Context, /, files: tuple[Path, ...], logs: tuple[Path, ...], **options: Any
) -> None:
    """Read FILES: shell scripts, docker commands, Compose files, systemd units, Kubernetes
    manifests, Dockerfiles, what `docker inspect` or `ps -ef` print, logs, Markdown with these in
    it. A folder stands for its files, - for standard input.

    Exit status: 0 when a routing file was made, 1 when no engine was found (with --strict also
    when there are contradictions or traps), 2 when a file can't be read or written.
    """
    _adopt(ctx, (*files, *logs), **options)


@adopt.command()
@click.argument("addresses", nargs=-1, required=True, metavar="URL...")
@click.option("--script", "files", multiple=True, type=_FILE, help="A script, to merge.")
@click.option("--log", "logs", multiple=True, type=_FILE, help="An engine's log, to merge.")
@_asking
@_common
@click.pass_context
def probe(
    ctx: click.Context, /, files: tuple[Path, ...], logs: tuple[Path, ...], **options: Any
) -> None:
    """Ask the servers at each URL, such as http://host:12320-12329, what they are.

    Exit status as that of `adopt script`.
    """
    _adopt(ctx, (*files, *logs), **options)


@adopt.command()
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--script", "scripts", multiple=True, type=_FILE, help="A script, to merge.")
@_common
@click.pass_context
def log(
    ctx: click.Context, /, files: tuple[Path, ...], scripts: tuple[Path, ...], **options: Any
) -> None:
    """Tell what the start-up logs FILES show: graph or eager, captured sizes, KV memory.

    With --script also a routing file is made, as by `adopt script`. Exit status: 0, 1 when no
    file is an engine's log, 2 when a file can't be read or written.
    """
    if scripts:
        _adopt(ctx, (*scripts, *files), addresses=(), api_key_env=None, limit_s=_LIMIT_S, **options)
    language: Language = options["language"]
    sources = read_all(files)
    _refuse_unreadable(ctx, sources.failed, language)
    logs, findings = sources.sighting.logs, in_order(sources.sighting.findings)
    show = logs_json if options["form"] == "json" else logs_text
    click.echo(show(logs, findings, language))
    ctx.exit(0 if logs else 1)


def _adopt(
    ctx: click.Context,
    files: tuple[Path, ...],
    *,
    addresses: tuple[str, ...],
    api_key_env: str | None,
    limit_s: float,
    host: str,
    output: Path | None,
    force: bool,
    form: str,
    strict: bool,
    language: Language,
) -> None:
    sources = read_all(files)
    _refuse_unreadable(ctx, sources.failed, language)
    if output is not None and output.exists() and not force:
        click.echo(_EXISTS.spoken(language).format(file=output), err=True)
        ctx.exit(2)
    accounts = _asked(addresses, api_key_env, limit_s)
    fleet = merge(sources.sighting, accounts, host=host, configs=sources.configs)
    findings = in_order((*fleet.findings, *traps_of(fleet)))
    names = (*sources.names, *addresses)
    made = draft(fleet, names, language) if fleet.candidates else None
    if form == "json":
        click.echo(as_json(fleet, findings, made, language))
    else:
        click.echo(findings_text(fleet, findings, language), err=True)
        if made is not None and output is None:
            click.echo(made, nl=False)
    if made is not None and output is not None:
        _write(ctx, output, made, language)
    is_bad = strict and any(severity_of(finding) in _BAD for finding in findings)
    ctx.exit(1 if made is None or is_bad else 0)


def _asked(
    addresses: tuple[str, ...], api_key_env: str | None, limit_s: float
) -> tuple[Account, ...]:
    targets: list[Target] = []
    for address in addresses:
        try:
            targets += targets_in(address)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
    if not targets:
        return ()
    key: bytes | None = None
    if api_key_env is not None:
        text = os.environ.get(api_key_env, "").strip()
        if not text or not text.isascii() or not text.isprintable():
            raise click.UsageError(f"the variable {api_key_env} holds no usable key")
        key = text.encode("ascii")
    return asyncio.run(ask_all(tuple(targets), key, limit_s))


def _refuse_unreadable(
    ctx: click.Context, failed: tuple[Unreadable, ...], language: Language
) -> None:
    for one in failed:
        text = _CANT_READ.spoken(language).format(file=one.file, why=one.why)
        click.echo(text, err=True)
    if failed:
        ctx.exit(2)


def _write(ctx: click.Context, file: Path, text: str, language: Language) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        why = error.strerror or str(error)
        click.echo(_CANT_WRITE.spoken(language).format(file=file, why=why), err=True)
        ctx.exit(2)
    click.echo(_WRITTEN.spoken(language).format(file=file), err=True)
