"""Ways in which a routing file breaks. Pure: a good text in, a bad one out."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

DELETED: Final = "deleted"


def _bad_yaml(text: str) -> bytes:
    return (text + "backends: [a1\nmodels: }\n").encode()


def _missing_comma(text: str) -> bytes:
    """`[a1 a2]` is one name, of a backend that nobody has."""
    return text.replace("- a1\n", "- a1 a2\n", 1).encode()


def _unknown_backend(text: str) -> bytes:
    return text.replace("  - b1\n", "  - b1\n  - nobody\n", 1).encode()


def _empty(_: str) -> bytes:
    return b""


def _half_written(text: str) -> bytes:
    data = text.encode()
    return data[: len(data) // 2]


def _not_utf8(text: str) -> bytes:
    return b"# caf\xe9\n" + text.encode()


def _tab(text: str) -> bytes:
    return text.replace("\n  ", "\n\t", 1).encode()


BREAKAGES: Final[Mapping[str, Callable[[str], bytes]]] = MappingProxyType(
    {
        "bad_yaml": _bad_yaml,
        "missing_comma": _missing_comma,
        "unknown_backend": _unknown_backend,
        "empty": _empty,
        "half_written": _half_written,
        "not_utf8": _not_utf8,
        "tab": _tab,
    }
)
KINDS: Final = (*BREAKAGES, DELETED)


def broken(kind: str, text: str) -> bytes | None:
    """The text, broken; None for a file that is deleted."""
    return None if kind == DELETED else BREAKAGES[kind](text)
