"""The text of a script as an editor left it: byte order mark, Windows line ends, its size."""

from typing import NamedTuple

from gateway.adoption.shell.budget import MAX_TEXT_CHARS


class SourceText(NamedTuple):
    """A text to be read, and what was done to it. `dos_line` is the first with a CR, 0 for none."""

    text: str
    dos_line: int = 0
    is_cut: bool = False


def source_text(raw: str) -> SourceText:
    """The text without its byte order mark, with plain line ends, cut at a line's end if too long.

    Bash takes a CR for a part of the last word of its line; a script that was started had none,
    so they are taken for what a later editor or transfer made of it.
    """
    text = raw[:MAX_TEXT_CHARS]
    is_cut = len(raw) > len(text)
    if is_cut:
        text = text[: text.rfind("\n") + 1] or text
    text = text.removeprefix("\ufeff")
    first = text.find("\r\n")
    dos_line = text.count("\n", 0, first) + 1 if first >= 0 else 0
    return SourceText(text.replace("\r\n", "\n").replace("\0", ""), dos_line, is_cut)
