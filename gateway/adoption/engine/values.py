"""The options of one command line, asked for by name and type; what can't be read is noted."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from gateway.adoption.codes import Code
from gateway.adoption.engine.given import Loose, Part, Unknown, Use
from gateway.adoption.engine.numbers import decimal_number, human_number, whole_number
from gateway.adoption.engine.option_names import ENDED, LETTER_ENDED, REPEATABLE
from gateway.adoption.engine.options import Takes, is_secret, nearest
from gateway.adoption.engine.trees import read_tree
from gateway.adoption.findings import Finding, Origin

HIDDEN: Final = "***"
"""Stands where a key would."""

_LONGEST_SHOWN: Final = 60
_MOST_NEAREST: Final = 20
_Number = TypeVar("_Number", int, float)

_UNSET: Final = frozenset(("", "None"))
_NEEDY: Final = frozenset((Takes.ONE, Takes.TREE, Takes.ALL))


def shortened(text: str, longest: int = _LONGEST_SHOWN) -> str:
    """The text on one line, cut where it is too long to be told."""
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


class Values:
    """Answers what options say: the command line's, or else the configuration file's.

    The last use of an option counts. `findings` grows with every question whose answer can't be
    read, and holds from the start what is wrong with the words as such.
    """

    __slots__ = ("_on_line", "_origin", "_uses", "findings", "loose", "unknown")

    def __init__(self, parts: Sequence[Part], config: Sequence[Part], origin: Origin) -> None:
        self._origin = origin
        self.findings: list[Finding] = []
        self.loose = tuple(part for part in parts if isinstance(part, Loose))
        self.unknown = tuple(
            dict.fromkeys(p.spelling for p in (*config, *parts) if isinstance(p, Unknown))
        )
        self._note_unknown()
        on_line = self._last_of(parts)
        self._on_line = frozenset(on_line)
        self._uses = {**self._last_of(config), **on_line}
        for name in self._uses:
            self._note_use(name)

    def __repr__(self) -> str:
        return f"Values({', '.join(self._uses)}; {len(self.findings)} findings)"

    def note(self, code: Code, **values: str) -> None:
        """Remember something about the command line."""
        self.findings.append(Finding(code, self._origin, values))

    def unreadable(self, name: str, value: str) -> None:
        """Remember that vLLM does not take the value for the option."""
        self.note(Code.VALUE_UNREADABLE, option=f"--{name}", value=_shown(name, value))

    def is_on_line(self, name: str) -> bool:
        """Whether the option stands on the command line itself."""
        return name in self._on_line

    def is_bare(self, name: str) -> bool:
        """Whether the option is given and the words that it needs are missing."""
        use = self._uses.get(name)
        return use is not None and not use.values

    def flag(self, name: str) -> bool | None:
        """Whether it is switched on or off; None where it is not given."""
        use = self._uses.get(name)
        if use is None:
            return None
        is_off = use.option.is_off or (use.stray or "").lower() == "false"
        return not is_off

    def words(self, name: str) -> tuple[str, ...]:
        """All words of the option that are not empty."""
        use = self._uses.get(name)
        return tuple(word for word in use.values if word) if use else ()

    def text(self, name: str) -> str | None:
        """Its word; None where it is not given, empty or "None", which vLLM takes as not given."""
        use = self._uses.get(name)
        word = use.values[0] if use and use.values else ""
        return None if word in _UNSET else word

    def number(
        self,
        name: str,
        least: int = 1,
        read: Callable[[str], int | None] = whole_number,
    ) -> int | None:
        """Its whole number, at least `least`."""
        return self._read(name, lambda text: _at_least(read(text), least))

    def human(self, name: str) -> int | None:
        """Its whole number of at least 1, which may be written like 32k."""
        return self.number(name, read=human_number)

    def decimal(self, name: str) -> float | None:
        """Its number of at least 0."""
        return self._read(name, lambda text: _at_least(decimal_number(text), 0.0))

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """Its whole numbers of at least 1, sorted, each once."""
        words = self.words(name)
        return self.sizes(name, words) if words else None

    def sizes(self, name: str, values: Iterable[object]) -> tuple[int, ...] | None:
        """Whole numbers of at least 1, sorted, each once; None where one of them is none."""
        found = set()
        for value in values:
            number = whole_number(value) if isinstance(value, str) else value
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                self.unreadable(name, str(value))
                return None
            found.add(number)
        return tuple(sorted(found))

    def tree(self, name: str) -> Mapping[str, object] | None:
        """Its JSON object, or what its single fields make up; None for any other value."""
        use = self._uses.get(name)
        if use is None or use.tree is not None:
            return use and use.tree
        text = self.text(name)
        if text is None:
            return None
        tree = read_tree(text)
        value = tree and tree.value
        is_sloppy = tree is None or tree.is_sloppy
        if isinstance(value, str):  # one pair of quotes too many, and escaped ones inside
            inner, is_sloppy = read_tree(value), True
            value = inner and inner.value
        if is_sloppy or not isinstance(value, Mapping):
            self.unreadable(name, text)
        return value if isinstance(value, Mapping) else None

    def _read(self, name: str, read: Callable[[str], _Number | None]) -> _Number | None:
        text = self.text(name)
        if text is None:
            return None
        value = read(text)
        if value is None:
            self.unreadable(name, text)
        return value

    def _last_of(self, source: Sequence[Part]) -> dict[str, Use]:
        last: dict[str, Use] = {}
        twice: list[str] = []
        for use in source:
            if not isinstance(use, Use):
                continue
            name = use.option.name
            if name in last and name not in REPEATABLE and name not in twice:
                twice.append(name)
            last[name] = use
        for name in twice:
            self.note(Code.OPTION_TWICE, option=f"--{name}", value=_told(last[name]))
        return last

    def _note_use(self, name: str) -> None:
        use = self._uses[name]
        option = f"--{name}"
        if use.stray is not None:
            self.note(Code.FLAG_WITH_VALUE, option=option, value=shortened(use.stray))
        elif not use.values and use.tree is None and use.option.takes in _NEEDY:
            self.note(Code.VALUE_MISSING, option=option)
        if use.option.is_old:
            self.note(Code.OPTION_ENDED, option=f"-O ({option})", version=LETTER_ENDED)
        elif name in ENDED:
            self.note(Code.OPTION_ENDED, option=option, version=ENDED[name])

    def _note_unknown(self) -> None:
        for count, spelling in enumerate(self.unknown):
            near = nearest(spelling) if count < _MOST_NEAREST else ""
            self.note(
                Code.OPTION_UNKNOWN,
                option=shortened(spelling),
                near=f" ({near}?)" if near else "",
            )


def _at_least(number: _Number | None, least: _Number) -> _Number | None:
    return None if number is None or number < least else number


def _shown(name: str, value: str) -> str:
    return HIDDEN if is_secret(name) else shortened(value)


def _told(use: Use) -> str:
    """What the use says, as it would be written behind the option."""
    if use.option.takes is Takes.NOTHING:
        name = use.option.name
        return f"--no-{name}" if use.option.is_off else f"--{name}"
    text = json.dumps(use.tree) if use.tree is not None else " ".join(use.values)
    return _shown(use.option.name, text)
