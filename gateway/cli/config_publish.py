"""`ascend-gateway config publish`: one routing file for all gateways that share a store."""

from pathlib import Path
from typing import Final

import click

from gateway.cli.changes import print_result
from gateway.cli.config_diff import read_file
from gateway.cli.control import RELOAD_S
from gateway.cli.language import language_option
from gateway.cli.where import Where, asks_gateway
from gateway.words import Language

_PATH: Final = "/admin/config/publish"


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@asks_gateway
@click.option("--json", "is_json", is_flag=True, help="Print JSON, for programs.")
@language_option
@click.pass_context
def publish(
    ctx: click.Context, file: Path, where: Where, is_json: bool, language: Language
) -> None:
    """Put FILE in force at a running gateway and at all that share its store.

    Each of them writes it to its own routing file. One that can't use it goes on with what it has;
    /health names it. A file with errors changes nothing anywhere.

    Exit status: 0 when it is in force, 1 when it is refused (all problems are shown), 2 when the
    file can't be read or the gateway can't be reached or does not tell.
    """
    gateway = where.gateway(language)
    content = read_file(file, language)
    answer = gateway.ask("POST", _PATH, {"lang": language.value}, content=content, limit_s=RELOAD_S)
    told = answer.tree
    if answer.status not in (200, 422) or not isinstance(told, dict) or "result" not in told:
        gateway.refuse(answer, _PATH)
    ctx.exit(print_result(told, language, is_json=is_json))
