"""How a command ends early: a text in the language of the person who asked, and a status."""

from typing import IO, Any, Final

import click

from gateway.observe.story_words import printable
from gateway.words import Language, Words

NO_ANSWER: Final = 2
"""The exit status where the gateway, or a file, could not be asked."""


class Stop(click.ClickException):
    """Ends the command with an exit status and a text on standard error."""

    def __init__(self, status: int, text: Words, language: Language, /, **values: object) -> None:
        told = text.spoken(language)
        super().__init__(told.format(**values) if values else told)
        # Click has one status for each class; here it differs from case to case.
        self.exit_code = status  # type: ignore[misc,unused-ignore]

    def show(self, file: IO[Any] | None = None) -> None:
        """Prints the text alone; what others wrote in it can't steer a terminal."""
        click.echo(plain(self.message), file=file, err=file is None)


def plain(text: str) -> str:
    """Lines that a terminal shows as they are."""
    return "\n".join(printable(line) for line in text.splitlines())
