"""What a few harmless commands print, so that `$(dirname "$0")` and the like have a value."""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gateway.adoption.shell.expansion.arithmetic import CalculationError, calculate
from gateway.adoption.shell.reader.ansi_quote import decode_ansi_quote
from gateway.adoption.shell.walk.streams import placed

_MAX_NUMBERS: Final = 1024
_NUMBER: Final = re.compile(r"-?[0-9]{1,9}")
_FORMAT: Final = re.compile(r"%(?:%|(-?0?[0-9]{0,3})([sdiu]))")

Printer = Callable[[Sequence[str], str], str | None]


class _NoNames:
    """Arithmetic without variables."""

    def __repr__(self) -> str:
        return "_NoNames()"

    def number_text(self, name: str) -> str:
        """None has a value."""
        raise CalculationError(name)

    def assign_number(self, name: str, value: int) -> None:
        """None can be set."""
        raise CalculationError(name)


def _echo(words: Sequence[str], _: str) -> str:
    rest = list(words)
    end = "\n"
    has_escapes = False
    while rest and rest[0] in {"-n", "-e", "-E", "-ne", "-en"}:
        option = rest.pop(0)
        end = "" if "n" in option else end
        has_escapes = "e" in option
    text = " ".join(rest)
    return (decode_ansi_quote(text) if has_escapes else text) + end


def printed_format(words: Sequence[str]) -> str | None:
    """What `printf FORMAT WORD...` prints; None for formats that are not known here."""
    if not words or words[0].startswith("-"):
        return None
    pattern, values = decode_ansi_quote(words[0]), list(words[1:])
    if "%" in _FORMAT.sub("", pattern):
        return None
    found: list[str] = []
    while True:
        before = len(values)
        found.append(_FORMAT.sub(lambda match: _formatted(match, values), pattern))
        if not values or len(values) == before:
            return "".join(found)


def _formatted(match: re.Match[str], values: list[str]) -> str:
    if match[2] is None:
        return "%"
    value = values.pop(0) if values else ""
    if match[2] != "s":
        value = str(int(value)) if _NUMBER.fullmatch(value) else "0"
    width = match[1]
    size = abs(int(width or 0))
    if width.startswith("-"):
        return value.ljust(size)
    return value.zfill(size) if width.startswith("0") and match[2] != "s" else value.rjust(size)


def _dirname(words: Sequence[str], _: str) -> str | None:
    return _one(words, lambda path: posixpath.dirname(path.rstrip("/")) or _root(path))


def _root(path: str) -> str:
    return "/" if path.startswith("/") else "."


def _basename(words: Sequence[str], _: str) -> str | None:
    rest = [word for word in words if word not in {"--", "-a"}]
    if not rest:
        return None
    name = posixpath.basename(rest[0].rstrip("/")) or rest[0]
    suffix = rest[1] if len(rest) > 1 else ""
    return (name.removesuffix(suffix) if name != suffix else name) + "\n"


def _realpath(words: Sequence[str], directory: str) -> str | None:
    """Without looking for links; a path is only made absolute if it is known where it begins."""
    return _one(words, lambda path: posixpath.normpath(placed(path, directory)))


def _readlink(words: Sequence[str], directory: str) -> str | None:
    return _realpath(words, directory) if words[:1] and words[0] in {"-f", "-e", "-m"} else None


def _one(words: Sequence[str], change: Callable[[str], str]) -> str | None:
    paths = [word for word in words if not word.startswith("-")]
    return change(paths[0]) + "\n" if len(paths) == 1 else None


def _pwd(_: Sequence[str], directory: str) -> str:
    return directory + "\n"


def _seq(words: Sequence[str], _: str) -> str | None:
    separator = "\n"
    rest = list(words)
    if rest[:1] == ["-s"] and len(rest) > 1:
        separator = rest[1]
        del rest[:2]
    if not rest or not all(_NUMBER.fullmatch(word) for word in rest) or len(rest) > len("abc"):
        return None
    numbers = [int(word) for word in rest]
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) > len("ab") else 1
    last = numbers[-1]
    if not step or abs(last - first) // abs(step) > _MAX_NUMBERS:
        return None
    found = range(first, last + (1 if step > 0 else -1), step)
    return separator.join(map(str, found)) + "\n" if found else ""


def _expr(words: Sequence[str], _: str) -> str | None:
    try:
        return f"{calculate(' '.join(words), _NoNames())}\n"
    except CalculationError:
        return None


def _which(words: Sequence[str], _: str) -> str | None:
    """The name itself: where it is found can't be told, and it means the same command."""
    names = [word for word in words if not word.startswith("-")]
    return names[0] + "\n" if len(names) == 1 else None


def _command(words: Sequence[str], directory: str) -> str | None:
    return _which(words, directory) if words[:1] == ["-v"] else None


def _nothing(_: Sequence[str], __: str) -> str:
    return ""


# They get their words and the current directory; None stands for what can't be told.
PRINTERS: Final[Mapping[str, Printer]] = {
    "echo": _echo,
    "printf": lambda words, _: printed_format(words),
    "dirname": _dirname,
    "basename": _basename,
    "realpath": _realpath,
    "readlink": _readlink,
    "pwd": _pwd,
    "seq": _seq,
    "expr": _expr,
    "which": _which,
    "command": _command,
    "true": _nothing,
    ":": _nothing,
    "cd": _nothing,
}
