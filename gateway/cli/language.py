"""The language of what a command prints: as asked for, else that of the locale."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from gateway.words import Language, language_of

F = TypeVar("F", bound=Callable[..., Any])


def language_option(command: F) -> F:
    """A decorator: `--lang` (or `--language`), given to the command as `language`."""
    option = click.option(
        "--lang",
        "--language",
        "language",
        type=click.Choice([language.value for language in Language]),
        callback=_language,
        help="Language of the text; else that of the locale.",
    )
    return option(command)


def _language(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Language:
    if value is not None:
        return Language(value)
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    return language_of(next((os.environ[name] for name in names if os.environ.get(name)), ""))
