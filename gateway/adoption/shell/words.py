"""One command line split into words as bash splits it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.adoption.shell.budget import MAX_TEXT_CHARS, Budget, TooMuchError
from gateway.adoption.shell.expansion.bare import Bare
from gateway.adoption.shell.expansion.expand import Expansion
from gateway.adoption.shell.expansion.values import Arguments
from gateway.adoption.shell.reader.command_reader import new_reading
from gateway.adoption.shell.reader.reading import ShellSyntaxError
from gateway.adoption.shell.reader.word_reader import read_word
from gateway.adoption.shell.variables import Variables

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def split_words(text: str, variables: Mapping[str, str] = _NOTHING) -> tuple[str, ...]:
    """The arguments that bash would make of `text` behind the name of a command.

    Quotes, escapes, `$'..'`, variables, braces and arithmetic are as in bash; variables that are
    not among `variables` are empty, as is the output of `$(..)`. Line ends count as blanks. The
    words end at the first operator, such as `;`, `|` or `>`. Raises ValueError for an unclosed
    quote, and for text that is too long or means too many words.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise ValueError(f"more than {MAX_TEXT_CHARS} characters")
    reading = new_reading(text, 1, [])
    try:
        expansion = Expansion(Bare(Variables(variables), Arguments("bash"), Budget()))
        found: list[str] = []
        while True:
            reading.skip_lines()
            word = read_word(reading)
            if not word.parts:
                return tuple(found)
            found.extend(expansion.fields(word))
    except ShellSyntaxError as error:
        values = ", ".join(error.note.values.values())
        raise ValueError(f"line {error.note.line}: {error.note.code}: {values}") from error
    except TooMuchError as error:
        raise ValueError(f"more than {error.limit}") from error
