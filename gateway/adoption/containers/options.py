"""Command line options as Docker's tools read them: where they end and which take a value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple


class Option(NamedTuple):
    """One option as given: its long name where it has one, and its value, None for a switch."""

    name: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Grammar:
    """The options of one command.

    `valued` take a value, as the next word or after `=`; `switches` take none but may be written
    `--name=true`. `shorts` gives the long name of each letter. With `is_mixed` options may stand
    behind the first plain word too.
    """

    valued: frozenset[str]
    switches: frozenset[str]
    shorts: tuple[tuple[str, str], ...] = ()
    is_mixed: bool = False

    def long_name(self, letter: str) -> str:
        """The long name of a one-letter option, or the letter where it has none."""
        return dict(self.shorts).get(letter, letter)


def grammar(valued: str, switches: str, shorts: str = "", *, is_mixed: bool = False) -> Grammar:
    """A grammar of names with blanks between them; `shorts` are like `e=env`."""
    pairs = (pair.partition("=") for pair in shorts.split())
    return Grammar(
        frozenset(valued.split()),
        frozenset(switches.split()),
        tuple((letter, name) for letter, _, name in pairs),
        is_mixed,
    )


@dataclass(frozen=True, slots=True)
class Parsed:
    """The options in their order, the plain words, and the options that the grammar lacks."""

    options: tuple[Option, ...]
    words: tuple[str, ...]
    unknown: tuple[str, ...]

    def last(self, *names: str) -> str | None:
        """The value of the last option of one of these names; None where none is given."""
        found = [option.value for option in self.options if option.name in names]
        return found[-1] if found else None

    def every(self, *names: str) -> tuple[str, ...]:
        """The values of all options of these names, in their order."""
        return tuple(o.value for o in self.options if o.name in names and o.value is not None)

    def has(self, *names: str) -> bool:
        """Whether one of these switches is on; `--name=false` turns it off."""
        found = [o.value for o in self.options if o.name in names]
        return bool(found) and (found[-1] or "true").lower() not in _OFF


_OFF: Final = frozenset({"false", "0", "f", "no"})


def read_options(words: Sequence[str], grammar: Grammar) -> Parsed:
    """Take options off the front of `words`; never raises.

    An option that the grammar lacks takes the next word for its value, as most do, unless that is
    an option too or nothing would be left; it is told in `unknown`.
    """
    reader = _Reader(words, grammar)
    options: list[Option] = []
    plain: list[str] = []
    while reader.left:
        word = reader.take()
        if word == "--":
            break
        if word.startswith("-") and word != "-":
            options.extend(reader.options(word))
            continue
        plain.append(word)
        if not grammar.is_mixed:
            break
    return Parsed(tuple(options), (*plain, *reader.left), tuple(reader.unknown))


class _Reader:
    """The words that are left, and what was not understood."""

    __slots__ = ("_at", "_grammar", "_words", "unknown")

    def __init__(self, words: Sequence[str], grammar: Grammar) -> None:
        self._words = tuple(words)
        self._at = 0
        self._grammar = grammar
        self.unknown: list[str] = []

    def __repr__(self) -> str:
        return f"<_Reader at {self._at} of {len(self._words)}>"

    @property
    def left(self) -> tuple[str, ...]:
        return self._words[self._at :]

    def take(self) -> str:
        self._at += 1
        return self._words[self._at - 1]

    def options(self, word: str) -> Iterator[Option]:
        if word.startswith("--"):
            yield self._long(word)
        else:
            yield from self._cluster(word[1:])

    def _long(self, word: str) -> Option:
        name, equals, value = word[2:].partition("=")
        known = name in self._grammar.valued or name in self._grammar.switches
        if not known:
            self.unknown.append(f"--{name}")
        if equals:
            return Option(name, value)
        if name in self._grammar.valued:
            return Option(name, self._next())
        return Option(name, None if known else self._next_of_unknown())

    def _cluster(self, letters: str) -> Iterator[Option]:
        """`-itd`, `-p80:80`, `-p=80:80`, `-itp 80:80`: the first that takes a value ends it."""
        for index, letter in enumerate(letters):
            name = self._grammar.long_name(letter)
            rest = letters[index + 1 :]
            if name in self._grammar.valued:
                yield Option(name, rest.removeprefix("=") if rest else self._next())
                return
            if rest.startswith("="):
                yield Option(name, rest[1:])
                return
            if name not in self._grammar.switches:
                self.unknown.append(f"-{letter}")
            yield Option(name, None)

    def _next(self) -> str:
        return self.take() if self._at < len(self._words) else ""

    def _next_of_unknown(self) -> str | None:
        left = self._words[self._at : self._at + 2]
        return self.take() if len(left) > 1 and not left[0].startswith("-") else None
