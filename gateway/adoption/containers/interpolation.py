"""`${VARIABLE}` in Compose files, and `$(VARIABLE)` in Kubernetes manifests."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

MAX_DEPTH: Final = 8
MAX_UNCLOSED: Final = 16
MAX_CHARS: Final = 65_536
"""What a text may become; one that would be longer, as by doubling itself, stays as written."""

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_DOLLAR: Final = re.compile(rf"\$(?:\$|({_NAME})|\{{({_NAME})(:?[-?+]|\}}))?")
_BRACE: Final = re.compile(r"\$\{|\}")
_REFERENCE: Final = re.compile(r"\$(?:\$|\(([A-Za-z_.-][A-Za-z0-9_.-]*)\))")


@dataclass(frozen=True, slots=True)
class Interpolated:
    """A text with its variables replaced; `unset` had no value, `defaults` the one in the text."""

    text: str
    unset: tuple[str, ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()


def interpolate(text: str, variables: Mapping[str, str]) -> Interpolated:
    """Replace `$A`, `${A}`, `${A:-x}`, `${A-x}`, `${A:?x}`, `${A:+x}` and `$$` as Compose does.

    Defaults may hold variables themselves. What Compose would refuse stays as it is. (Compose
    specification, interpolation.)
    """
    return _Interpolation(variables).run(text, 0)


class _Interpolation:
    """One text being read, and what was noticed."""

    __slots__ = ("_defaults", "_unclosed", "_unset", "_variables")

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._unset: dict[str, None] = {}
        self._defaults: dict[tuple[str, str], None] = {}
        self._unclosed = 0

    def __repr__(self) -> str:
        return f"<_Interpolation unset={list(self._unset)}>"

    def run(self, text: str, depth: int) -> Interpolated:
        pieces: list[str] = []
        left = max(MAX_CHARS, len(text))
        for piece in self._pieces(text, depth):
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                return Interpolated(text)
        return Interpolated("".join(pieces), tuple(self._unset), tuple(self._defaults))

    def _pieces(self, text: str, depth: int) -> Iterator[str]:
        at = 0
        while (match := _DOLLAR.search(text, at)) is not None:
            yield text[at : match.start()]
            at = match.end()
            if match[0] == "$$":
                yield "$"
            elif match[1]:
                yield self._value(match[1])
            elif match[2] and match[3] == "}":
                yield self._value(match[2])
            elif match[2] and depth < MAX_DEPTH and (end := self._closing(text, at)) is not None:
                inner = text[at:end]
                at = end + 1
                yield self._with_operator(match[2], match[3], inner, depth)
            else:
                yield match[0]
        yield text[at:]

    def _with_operator(self, name: str, operator: str, argument: str, depth: int) -> str:
        known = self._variables.get(name)
        has_value = bool(known) if operator.startswith(":") else known is not None
        if operator.endswith("+"):
            return "".join(self._pieces(argument, depth + 1)) if has_value else ""
        if has_value:
            return known or ""
        if operator.endswith("?"):
            return self._value(name)
        default = "".join(self._pieces(argument, depth + 1))
        self._defaults[name, default] = None
        return default

    def _value(self, name: str) -> str:
        if name not in self._variables:
            self._unset[name] = None
        return self._variables.get(name, "")

    def _closing(self, text: str, at: int) -> int | None:
        """Where the brace that is open at `at` closes; braces of other variables may stand inside.

        The search ends with the text, so it is given up after a few that found nothing.
        """
        level = 1
        for match in _BRACE.finditer(text, at) if self._unclosed < MAX_UNCLOSED else ():
            level += 1 if match[0] != "}" else -1
            if level == 0:
                return match.start()
        self._unclosed += 1
        return None


def expand_references(
    text: str, variables: Mapping[str, str | None]
) -> tuple[str, tuple[str, ...]]:
    """Replace `$(A)` as the kubelet does, and `$$` by `$`; also the names without a known value.

    `variables` has None for those whose value stands elsewhere; they are read as nothing. What is
    no variable stays as it is, for a shell. (Kubernetes, "Define dependent environment variables".)
    """
    unset: dict[str, None] = {}
    pieces: list[str] = []
    left = max(MAX_CHARS, len(text))
    at = 0
    for match in _REFERENCE.finditer(text):
        name = match[1]
        known = "$" if name is None else variables.get(name, match[0])
        if known is None:
            unset[name] = None
        pieces += (text[at : match.start()], known or "")
        at = match.end()
        left -= len(pieces[-1])
        if left < 0:
            return text, ()
    return "".join((*pieces, text[at:])), tuple(unset)
