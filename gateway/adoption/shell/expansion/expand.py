"""Expands the words of one command as bash does, and keeps what had no value."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from gateway.adoption.shell.budget import Budget
from gateway.adoption.shell.expansion.arithmetic import CalculationError, calculate
from gateway.adoption.shell.expansion.braces import expand_braces
from gateway.adoption.shell.expansion.fields import (
    BREAK,
    DEFAULT_IFS,
    Kind,
    Piece,
    joined,
    split_fields,
)
from gateway.adoption.shell.expansion.operations import operated, sliced, sliced_items
from gateway.adoption.shell.expansion.patterns import pattern_of
from gateway.adoption.shell.expansion.tilde import with_home
from gateway.adoption.shell.expansion.values import (
    Arguments,
    Resolved,
    item,
    scalar,
    special,
    whole,
)
from gateway.adoption.shell.missing import Missing
from gateway.adoption.shell.syntax import (
    Arithmetic,
    Chars,
    Parameter,
    Part,
    Process,
    Substitution,
    Word,
)
from gateway.adoption.shell.variables import Variables

_VALUE_OPERATORS: Final = frozenset({"-", ":-", "=", ":=", "?", ":?", "+", ":+"})
# A calculation costs more than its characters.
_CALCULATION_CHARS: Final = 100


class Output(NamedTuple):
    """What a command printed, and what is missing in it."""

    text: str
    missing: tuple[Missing, ...] = ()


class Surroundings(Protocol):
    """The shell in which words are expanded."""

    @property
    def variables(self) -> Variables:
        """Its variables."""

    @property
    def arguments(self) -> Arguments:
        """Its positional arguments."""

    @property
    def budget(self) -> Budget:
        """What expansions may still cost."""

    def substitute(self, substitution: Substitution) -> Output:
        """The output of a `$(...)`."""

    def connect(self, process: Process) -> None:
        """Takes note of a `<(...)`, whose word is the name of a pipe."""


class Expansion:
    """The expansions of one command.

    `missing` is what was used and has no value, `defaults` the defaults that were taken
    for them, `refused` what can't be told without running the script.
    """

    def __init__(self, shell: Surroundings) -> None:
        self._shell = shell
        self.missing: dict[Missing, None] = {}
        self.defaults: dict[tuple[str, str], None] = {}
        self.refused: dict[str, None] = {}

    def __repr__(self) -> str:
        return f"Expansion(missing={list(self.missing)}, defaults={list(self.defaults)})"

    def fields(self, word: Word) -> list[str]:
        """The words that one word of a command becomes: none, one or many."""
        found: list[str] = []
        for alternative in expand_braces(word):
            parts = with_home(alternative.parts, self._shell.variables.text("HOME"))
            pieces = self._pieces(parts)
            found.extend(split_fields(pieces, self._ifs()))
        self._shell.budget.spend(sum(map(len, found)) + len(found))
        return found

    def text(self, word: Word) -> str:
        """The one text that a word becomes where it is not split."""
        return joined(self._pieces(word.parts))

    def assigned(self, word: Word) -> str:
        """The text that `name=word` assigns."""
        home = self._shell.variables.text("HOME")
        return joined(self._pieces(with_home(word.parts, home, is_assigned=True)))

    def number(self, expression: Word) -> int | None:
        """The value of an arithmetic expression; None if it has none."""
        text = self.text(expression)
        try:
            return calculate(text, self)
        except CalculationError:
            self._refuse(f"$(({text}))")
            return None

    def number_text(self, name: str) -> str:
        """The value of a variable in an arithmetic expression."""
        resolved = special(name, self._shell.arguments) or scalar(name, self._shell.variables)
        self._miss(resolved)
        self._shell.budget.spend(len(resolved.text) + _CALCULATION_CHARS)
        return resolved.text

    def assign_number(self, name: str, value: int) -> None:
        """An assignment within an arithmetic expression."""
        self._shell.variables.assign(name, str(value))

    def _ifs(self) -> str:
        ifs = self._shell.variables.text("IFS")
        return DEFAULT_IFS if ifs is None else ifs

    def _miss(self, resolved: Resolved) -> None:
        self.missing.update(dict.fromkeys(resolved.missing))

    def _refuse(self, what: str) -> None:
        self.refused[what] = None
        self.missing[Missing(what, is_unseen=True)] = None

    def _pieces(self, parts: Iterable[Part]) -> list[Piece]:
        pieces: list[Piece] = []
        for part in parts:
            found = self._part(part)
            self._shell.budget.spend(sum(len(piece.text) for piece in found) + len(found))
            pieces.extend(found)
        return pieces

    def _part(self, part: Part) -> list[Piece]:
        if isinstance(part, Chars):
            return [Piece(part.text, Kind.QUOTED if part.is_quoted else Kind.LITERAL)]
        if isinstance(part, Process):
            self._shell.connect(part)
            return [Piece("/dev/fd/63", Kind.QUOTED)]
        kind = Kind.QUOTED if part.is_quoted else Kind.SPLIT
        if isinstance(part, Arithmetic):
            number = self.number(part.expression)
            return [Piece("", Kind.QUOTED) if number is None else Piece(str(number), kind)]
        with self._shell.budget.level():
            if isinstance(part, Parameter):
                return self._parameter(part)
            output = self._shell.substitute(part)
            self.missing.update(dict.fromkeys(output.missing))
            return [_piece(output.text, kind, output.missing)]

    def _parameter(self, p: Parameter) -> list[Piece]:
        if p.operator == "bad":
            self._refuse(p.name)
            return [Piece("", Kind.QUOTED if p.is_quoted else Kind.SPLIT)]
        if p.operator == "indirect":
            return self._indirect(p)
        resolved = self._resolved(p)
        if p.operator in _VALUE_OPERATORS:
            return self._chosen(p, resolved)
        self._miss(resolved)
        if p.operator == "length":
            size = len(resolved.values) if _is_many(resolved) else len(resolved.text)
            return self._shown(Resolved((str(size),)), p)
        if p.operator == "keys":
            variable = self._shell.variables.get(p.name)
            keys = tuple(variable.keys()) if variable else ()
            return self._shown(Resolved(keys, is_list=True), p)
        if p.operator:
            resolved = self._operated(p, resolved)
        return self._shown(resolved, p)

    def _resolved(self, p: Parameter) -> Resolved:
        variables = self._shell.variables
        if p.subscript is None:
            found = special(p.name, self._shell.arguments)
            return found or scalar(p.name, variables)
        if p.subscript.plain in {"@", "*"}:
            return whole(p.name, variables, is_joined=p.subscript.plain == "*")
        return item(p.name, self.subscript(p.name, p.subscript), variables)

    def subscript(self, name: str, word: Word) -> str:
        """The key of an array's item: a text for an associative one, else a number."""
        variable = self._shell.variables.get(name)
        if variable is not None and variable.is_keyed:
            return self.text(word)
        return str(self.number(word) or 0)

    def _indirect(self, p: Parameter) -> list[Piece]:
        resolved = self._resolved(p)
        self._miss(resolved)
        name, bracket, rest = resolved.text.partition("[")
        if not name.replace("_", "a").isalnum() or not name.isascii():
            return self._shown(Resolved(("",), False, missing=resolved.missing), p)
        subscript = Word((Chars(rest.removesuffix("]")),)) if bracket else None
        return self._parameter(Parameter(name, "", subscript, is_quoted=p.is_quoted))

    def _chosen(self, p: Parameter, resolved: Resolved) -> list[Piece]:
        """`${name:-word}` and its kin."""
        is_given = resolved.is_set and not (p.operator[0] == ":" and not resolved.text)
        argument = p.argument or Word(())
        kind = p.operator[-1]
        if kind == "+":
            return self._argument(argument, p.is_quoted) if is_given else self._nothing(p)
        if is_given:
            self._miss(resolved)
            return self._shown(resolved, p)
        if kind == "?":
            self._miss(resolved)
            self.missing[Missing(p.name)] = None
            return self._nothing(p)
        found = self._argument(argument, p.is_quoted)
        text = joined(found)
        if text and (p.name[0].isalnum() or p.name[0] == "_"):
            self.defaults[p.name, text] = None
        if kind == "=" and p.subscript is None:
            # What stands here then is the variable, without the quotes of the default.
            self._shell.variables.assign(p.name, text)
            return self._shown(Resolved((text,)), p)
        return found

    def _argument(self, word: Word, is_quoted: bool) -> list[Piece]:
        """A default: outside of quotes it is split as a value would be."""
        pieces = self._pieces(with_home(word.parts, self._shell.variables.text("HOME")))
        if is_quoted:
            quoted = [p if p.kind is Kind.BREAK else Piece(p.text, Kind.QUOTED) for p in pieces]
            return quoted or [Piece("", Kind.QUOTED)]
        return [Piece(p.text, Kind.SPLIT) if p.kind is Kind.LITERAL else p for p in pieces]

    def _nothing(self, p: Parameter) -> list[Piece]:
        return [Piece("", Kind.QUOTED)] if p.is_quoted else []

    def _operated(self, p: Parameter, resolved: Resolved) -> Resolved:
        argument = p.argument or Word(())
        if p.operator == ":":
            values = self._sliced(p, resolved, argument)
        else:
            signs = pattern_of(
                [(piece.text, piece.kind is Kind.QUOTED) for piece in self._pieces(argument.parts)]
            )
            new = self.text(p.extra) if p.extra else ""
            self._shell.budget.spend(len(signs) * sum(map(len, resolved.values)))
            values = [operated(value, p.operator, signs, new) for value in resolved.values]
        return Resolved(
            tuple(values), resolved.is_set, resolved.is_list, resolved.is_joined, resolved.missing
        )

    def _sliced(self, p: Parameter, resolved: Resolved, argument: Word) -> Sequence[str]:
        start = self.number(argument) or 0
        length = self.number(p.extra) if p.extra else None
        if not _is_many(resolved):
            return [sliced(resolved.text, start, length)]
        if p.name not in {"@", "*"}:
            return sliced_items(resolved.values, start, length)
        # $@ begins with 1; 0 is the name of the script.
        return sliced_items((self._shell.arguments.name, *resolved.values), start, length)

    def _shown(self, resolved: Resolved, p: Parameter) -> list[Piece]:
        kind = Kind.QUOTED if p.is_quoted else Kind.SPLIT
        if resolved.is_joined and p.is_quoted:
            return [Piece(self._ifs()[:1].join(resolved.values), kind)]
        if not _is_many(resolved):
            return [_piece(resolved.text, kind, resolved.missing)]
        pieces: list[Piece] = []
        for value in resolved.values:
            pieces.extend((BREAK, Piece(value, kind)) if pieces else (Piece(value, kind),))
        return pieces


def _is_many(resolved: Resolved) -> bool:
    return resolved.is_list or resolved.is_joined


def _piece(text: str, kind: Kind, missing: Iterable[Missing]) -> Piece:
    """A value. One that is there when the script runs keeps its place among the words."""
    is_unseen = not text and any(m.is_unseen for m in missing)
    return Piece(text, Kind.QUOTED if is_unseen else kind)
