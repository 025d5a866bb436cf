"""`ascend-gateway config check`: what is wrong with a routing file, and with its backends."""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click

from gateway.cli.check_report import Report, as_json, as_text
from gateway.cli.config_probe import Measuring, Probed, probe_all
from gateway.cli.language import language_option
from gateway.config.advice import Advice, advice_of
from gateway.config.load import Loaded, load_bytes
from gateway.fleet.engine_drift import completed
from gateway.words import Language, Words

_LIMIT_S: Final = 15.0
_MAX_BYTES: Final = 16 * 1024 * 1024
_MEASURING: Final[Mapping[bool | None, Measuring]] = MappingProxyType(
    {None: Measuring.UNTOLD, True: Measuring.ALL, False: Measuring.NOBODY}
)
_CANT_READ: Final = Words("{file}: can't be read: {why}", "{file}：无法读取：{why}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--probe", is_flag=True, help="Ask every backend, and report how it differs.")
@click.option(
    "--probe-speed/--no-probe-speed",
    "probe_speed",
    default=None,
    help="With --probe: measure the speed of every idle backend, or of none; else of the graph "
    "backends that do not tell whether they use graphs.",
)
@click.option(
    "--timeout",
    "limit_s",
    type=click.FloatRange(min=0.1, max=600.0),
    default=_LIMIT_S,
    show_default=True,
    help="With --probe: seconds for each backend; up to 64 are asked at once.",
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
    probe_speed: bool | None,
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
        measuring = _MEASURING[probe_speed]
        probed = asyncio.run(probe_all(loaded.config, os.environ, limit_s, measuring))
    report = Report(name, loaded, probed, _advice(loaded, probed), strict)
    click.echo((as_json if form == "json" else as_text)(report, language))
    ctx.exit(0 if report.is_good else 1)


def _advice(loaded: Loaded, probed: tuple[Probed, ...] | None) -> tuple[Advice, ...]:
    """By the file, and where it leaves something open by what the backend said."""
    if loaded.config is None:
        return ()
    backends = [backend for backend in loaded.config.backends if backend.enabled]
    if probed is not None:
        backends = [completed(one.backend, one.account.engine) for one in probed]
    return tuple(advice for one in backends if (advice := advice_of(one)) is not None)


def _load(file: Path, name: str) -> Loaded:
    if str(file) == "-":
        return load_bytes(sys.stdin.buffer.read(_MAX_BYTES), name)
    return load_bytes(file.read_bytes(), name)
