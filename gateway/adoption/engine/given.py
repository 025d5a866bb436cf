"""The words of a command line, sorted into options with their values and words that stand alone."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from gateway.adoption.engine.options import Option, Takes, find_option, is_secret
from gateway.adoption.engine.trees import merge, nested, read_tree

_NEGATIVE: Final = re.compile(r"-\d+|-\d*\.\d+")
_GLUED: Final = re.compile(r"(-[a-z])(\d+)")
_LEVEL: Final = re.compile(r"-O=?(?P<level>[^.={].*)")
_DEEPEST: Final = 20
_LONGEST_SPLIT_TREE: Final = 64
_LEVELS: Final = frozenset(("0", "1", "2", "3"))
_SWITCH_WORDS: Final = frozenset(("true", "false"))
_LEVEL_OPTION: Final = Option("optimization-level", Takes.ONE)
_OLD_COMPILATION: Final = Option("compilation-config", Takes.TREE, is_old=True)


class Use(NamedTuple):
    """An option as it was given once.

    `values` are the words that belong to it. `tree` is what single fields (--NAME.FIELD VALUE) make
    up together; they have no words. `stray` is a value that an option got that takes none.
    """

    option: Option
    values: tuple[str, ...] = ()
    tree: Mapping[str, object] | None = None
    stray: str | None = None


class Unknown(NamedTuple):
    """An option that vLLM does not have, as it was written, without its value."""

    spelling: str


class Loose(NamedTuple):
    """A word that belongs to no option; `is_secret` where it may be a key all the same."""

    word: str
    is_secret: bool = False


Part = Use | Unknown | Loose


@dataclass(frozen=True, slots=True)
class _Spelled:
    """A word that is an option: what it stands for, the value after `=`, and the field's path."""

    spelling: str
    option: Option | None
    attached: str | None = None
    path: tuple[str, ...] = ()


def sort_words(words: Sequence[str]) -> tuple[Part, ...]:
    """Options, unknown options and loose words in their order, as vLLM's parser sees them.

    Single fields of a tree come last, joined by the name they were written with: vLLM appends them
    as one JSON value, which replaces any JSON given before (utils/argparse_utils.py of 0.20.2).
    """
    return tuple(_Sorting(words).parts())


class _Sorting:
    """Goes over the words once, from left to right."""

    __slots__ = ("_at", "_fields", "_may_be_secret", "_words")

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._at = 0
        self._fields: dict[str, tuple[Option, dict[str, object]]] = {}
        self._may_be_secret = False

    def __repr__(self) -> str:
        return f"_Sorting({self._at} of {len(self._words)} words)"

    def parts(self) -> Iterator[Part]:
        while self._at < len(self._words):
            word = self._words[self._at]
            self._at += 1
            if word == "--":
                yield from (Loose(rest, self._may_be_secret) for rest in self._words[self._at :])
                break
            is_level = word == "-O" and self._following() in _LEVELS
            spelled = _Spelled(word, _LEVEL_OPTION) if is_level else _spelled(word)
            if spelled is None:
                yield Loose(word, self._may_be_secret)
            else:
                yield from self._option(spelled)
        for option, tree in self._fields.values():
            yield Use(option, tree=tree)

    def _option(self, spelled: _Spelled) -> Iterator[Part]:
        option = spelled.option
        self._may_be_secret = is_secret(spelled.spelling if option is None else option.name)
        if option is None:
            if spelled.attached is None and not _is_switch_like(spelled.spelling):
                self._take(1)
            yield Unknown(spelled.spelling)
        elif spelled.path:
            yield from self._field(spelled, option)
        elif option.takes is Takes.NOTHING:
            yield Use(option, stray=self._switch_word(spelled.attached))
        elif spelled.attached is not None:
            yield Use(option, (spelled.attached,))
        elif option.takes is Takes.TREE:
            yield Use(option, self._tree_words())
        else:
            yield Use(option, self._take(len(self._words) if option.takes is Takes.ALL else 1))

    def _following(self) -> str:
        """The next word, "" at the end."""
        return self._words[self._at] if self._at < len(self._words) else ""

    def _take(self, most: int) -> tuple[str, ...]:
        """The following words that are no options, `most` of them at most."""
        start = self._at
        while self._at < min(len(self._words), start + most) and not _is_option(
            self._words[self._at]
        ):
            self._at += 1
        return tuple(self._words[start : self._at])

    def _switch_word(self, attached: str | None) -> str | None:
        following = self._following()
        if attached is not None or following.lower() not in _SWITCH_WORDS:
            return attached
        self._at += 1
        return following

    def _tree_words(self) -> tuple[str, ...]:
        """One word, or all the words of a tree that a shell took apart for lack of quotes."""
        taken = self._take(1)
        if not taken or not taken[0].lstrip().startswith("{"):
            return taken
        last = self._at + _LONGEST_SPLIT_TREE
        text = taken[0]
        open_braces = text.count("{") - text.count("}")
        while open_braces > 0 and (more := self._take(1)) and self._at < last:
            open_braces += more[0].count("{") - more[0].count("}")
            text = f"{text} {more[0]}"
        return (text,)

    def _field(self, spelled: _Spelled, option: Option) -> Iterator[Part]:
        values = (spelled.attached,) if spelled.attached is not None else self._take(1)
        path = list(spelled.path)
        is_list = path[-1].endswith("+")
        path[-1] = path[-1].removesuffix("+")
        if not values or len(path) > _DEEPEST:
            yield Use(option)
            return
        value: object = values[0].split(",") if is_list else _field_value(values[0])
        written = spelled.spelling.replace("_", "-")
        _, tree = self._fields.setdefault(written, (option, {}))
        merge(tree, nested(path, value))


def _field_value(text: str) -> object:
    tree = read_tree(text)
    return text if tree is None or tree.is_sloppy else tree.value


def _spelled(word: str) -> _Spelled | None:
    """What the word is as an option; None where it is a value or stands alone."""
    if len(word) < 2 or not word.startswith("-"):
        return None
    if word.startswith("-O"):
        return _spelled_level(word)
    name, equals, value = word.partition("=")
    attached = value if equals else None
    spelling, *path = name.split(".")
    option = find_option(spelling)
    if path and (option is None or option.takes is not Takes.TREE):
        option, spelling, path = None, name, []
    if option is None and (_NEGATIVE.fullmatch(word) or " " in name):
        return None
    if option is None:
        return _with_glued_value(word) or _Spelled(name, None, attached)
    return _Spelled(spelling, option, attached, tuple(path))


def _spelled_level(word: str) -> _Spelled:
    """-O3, -O=3, and until vLLM 0.11 -O '{...}' and -O.mode=3 for the compilation config."""
    match = _LEVEL.fullmatch(word)
    if match:
        return _Spelled("-O", _LEVEL_OPTION, match["level"])
    name, equals, value = word[2:].partition("=")
    if name and not name.startswith("."):
        return _Spelled(word, None)
    path = tuple(name.split(".")[1:])
    return _Spelled("-O", _OLD_COMPILATION, value if equals else None, path)


def _with_glued_value(word: str) -> _Spelled | None:
    """-n4, for the options that have one letter."""
    match = _GLUED.fullmatch(word)
    option = find_option(match[1]) if match else None
    return _Spelled(word[:2], option, word[2:]) if option else None


def _is_option(word: str) -> bool:
    return word == "--" or _spelled(word) is not None


def _is_switch_like(spelling: str) -> bool:
    return spelling.lstrip("-").startswith(("enable", "disable", "no-", "no_", "use-", "use_"))
