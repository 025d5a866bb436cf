"""`ascend-gateway explain`: why a request went where it went, asked of a running gateway."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import click

from gateway.cli.asking import Answer
from gateway.cli.language import language_option
from gateway.cli.where import Where, asks_gateway
from gateway.words import Language

_PATH: Final = "/admin/explain"
_STATUSES: Final[Mapping[str, int]] = MappingProxyType({"request_not_kept": 1})


@click.command()
@click.argument("request_id", metavar="ID")
@asks_gateway
@click.option("--json", "is_json", is_flag=True, help="Print JSON, for programs.")
@language_option
def explain(request_id: str, where: Where, is_json: bool, language: Language) -> None:
    """Tell why the request ID went where it went; ID is the x-request-id of its answer.

    Exit status: 0 when the gateway tells it, 1 when it does not keep that request, 2 when the
    gateway can't be reached or does not tell.
    """
    gateway = where.gateway(language)
    query = {
        "request_id": request_id,
        "format": "json" if is_json else "text",
        "lang": language.value,
    }
    answer = gateway.ask("GET", _PATH, query)
    told = _explanation(answer, is_json)
    if told is None:
        gateway.refuse(answer, _PATH, _STATUSES)
    click.echo(told)


def _explanation(answer: Answer, is_json: bool) -> str | None:
    """What is to be printed; None for anything that is no explanation, such as a web page."""
    if answer.status != 200:
        return None
    if not is_json:
        is_text = answer.content_type.startswith("text/plain")
        return answer.text.rstrip("\n") if is_text else None
    tree = answer.tree
    return None if tree is None else json.dumps(tree, indent=2, ensure_ascii=False)
