"""How characters are taken in the different places where words stand."""

import re
from typing import Final, NamedTuple


class Style(NamedTuple):
    """The rules of one place.

    `stop` are the characters that end it, `quotes` those that open a quote there. `escapes` are
    the characters that a backslash takes the meaning of, "" for all. With `is_quoted` plain
    characters are quoted ones.
    """

    stop: str
    quotes: str
    escapes: str
    is_quoted: bool
    plain: re.Pattern[str]


def _style(stop: str, quotes: str = "'\"", escapes: str = "", *, is_quoted: bool = False) -> Style:
    special = re.escape("\\'\"$`" + stop)
    return Style(stop, quotes, escapes, is_quoted, re.compile(f"[^{special}]++|['\"]"))


# The characters that end a word of a command.
META: Final = " \t\n|&;()<>"

WORD: Final = _style(META)
# Words of `[[ ]]` and patterns of `case`: operators are left to whoever looks at the word.
TEST_WORD: Final = _style(" \t\n")
CASE_PATTERN: Final = _style(" \t\n|)")
DOUBLE_QUOTED: Final = _style('"', "", '$`"\\\n', is_quoted=True)
HERE_DOCUMENT: Final = _style("", "", "$`\\\n", is_quoted=True)
ARITHMETIC: Final = _style("", '"', '$`"\\\n', is_quoted=True)
SUBSCRIPT: Final = _style("]")
ASSIGNED_SUBSCRIPT: Final = _style(META + "]")
# What stands behind the operator in ${name...}; the first of two stops at what parts them.
ARGUMENT: Final = _style("}")
REPLACED: Final = _style("/}")
OFFSET: Final = _style(":}")
QUOTED_ARGUMENT: Final = _style("}", '"', '$`"\\}\n', is_quoted=True)
