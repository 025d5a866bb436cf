"""`bash -c TEXT`, `sh FILE`, `bash <<EOF`: how a shell is told what to read."""

import posixpath
from collections.abc import Sequence
from typing import Final, NamedTuple

SHELLS: Final = frozenset({"bash", "sh", "dash", "ash", "ksh", "zsh"})

_VALUED_NAMES: Final = frozenset({"--rcfile", "--init-file"})


class ShellCall(NamedTuple):
    """What a shell reads.

    `text` is the index of the word with the text of `-c`, `file` that of the script's name; both
    None where it reads its input. The words from `arguments` on are positional arguments.
    """

    text: int | None
    file: int | None
    arguments: int


def shell_call(words: Sequence[str]) -> ShellCall | None:
    """How a command line calls a shell; None if it is not one, or without a text for `-c`."""
    if not words or posixpath.basename(words[0]) not in SHELLS:
        return None
    index = 1
    has_text = reads_input = False
    while index < len(words) and words[index][:1] in {"-", "+"} and len(words[index]) > 1:
        word = words[index]
        index += 1
        if word == "--":
            break
        if word.startswith("--"):
            index += word in _VALUED_NAMES
            continue
        has_text = has_text or "c" in word
        reads_input = reads_input or "s" in word
        # `-o pipefail` and `-O extglob`, within a cluster such as `-euo` too.
        index += sum(word.count(letter) for letter in "oO")
    if has_text:
        # What follows the text is $0.
        return ShellCall(index, None, index + 2) if index < len(words) else None
    if reads_input or index >= len(words) or words[index] == "-":
        return ShellCall(None, None, index)
    return ShellCall(None, index, index + 1)
