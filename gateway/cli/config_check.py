"""`ascend-gateway config check`: what is wrong with a routing file, and with its backends."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

import click

from gateway.cli.check_report import Report, as_json, as_text
from gateway.cli.config_probe import Probed, probe_all
from gateway.cli.language import language_option
from gateway.config.advice import advice_of
from gateway.config.load import Loaded, load_bytes
from gateway.words import Language, Words

_LIMIT_S: Final = 15.0
_MAX_BYTES: Final = 16 * 1024 * 1024
_CANT_READ: Final = Words("{file}: can't be read: {why}", "{file}：无法读取：{why}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--probe", is_flag=True, help="Ask every backend, and report how it differs.")
@click.option(
    "--speed/--no-speed",
    default=True,
    help="With --probe: measure idle graph backends that do not tell whether they use graphs.",
)
@click.option(
    "--timeout",
    "limit_s",
    type=click.FloatRange(min=0.1, max=600.0),
    default=_LIMIT_S,
    show_default=True,
    help="With --probe: seconds for each backend; all are asked at once.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print."
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@language_option
@click.pass_context
def check(
    ctx: click.Context,
    file: Path,
    probe: bool,
    speed: bool,
    limit_s: float,
    form: str,
    strict: bool,
    language: Language,
) -> None:
    """Show every problem of FILE, and each backend as the gateway would use it; - reads
    standard input.

    Exit status: 0 when the file can be used (and with --probe every backend is as it says), 1
    when there are errors (with --strict also warnings), 2 when FILE can't be read.
    """
    name = click.format_filename(file)
    try:
        loaded = _load(file, name)
    except OSError as error:
        why = error.strerror or str(error)
        click.echo(_CANT_READ.spoken(language).format(file=name, why=why), err=True)
        ctx.exit(2)
    probed: tuple[Probed, ...] | None = None
    if probe and loaded.config is not None:
        probed = asyncio.run(probe_all(loaded.config, os.environ, limit_s, with_speed=speed))
    backends = () if loaded.config is None else loaded.config.backends
    advice = tuple(a for b in backends if b.enabled and (a := advice_of(b)) is not None)
    report = Report(name, loaded, probed, advice, strict)
    click.echo((as_json if form == "json" else as_text)(report, language))
    ctx.exit(0 if report.is_good else 1)


def _load(file: Path, name: str) -> Loaded:
    if str(file) == "-":
        return load_bytes(sys.stdin.buffer.read(_MAX_BYTES), name)
    return load_bytes(file.read_bytes(), name)
