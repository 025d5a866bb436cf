"""What a shell script consists of: words, commands and the constructs around them."""

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Chars:
    """Characters that stand for themselves; quoted ones are neither split nor patterns."""

    text: str
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name`, `${name}` or `${name<operator>argument}`.

    `operator` is as written (`:-`, `##`, `//`, `:`), or `length` for `${#name}`, `indirect` for
    `${!name}`, `keys` for `${!name[@]}`, `bad` for what bash refuses. `extra` is the replacement of
    `/` or the length of a slice.
    """

    name: str
    operator: str = ""
    subscript: "Word | None" = None
    argument: "Word | None" = None
    extra: "Word | None" = None
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(...)` or backticks; `text` is how it was written."""

    body: "Block"
    text: str
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((...))` or `$[...]`."""

    expression: "Word"
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class Process:
    """`<(...)` or `>(...)`."""

    body: "Block"
    is_sink: bool


Part = Chars | Parameter | Substitution | Arithmetic | Process


@dataclass(frozen=True, slots=True)
class Word:
    """One word before expansion, and the line on which it begins."""

    parts: tuple[Part, ...]
    line: int = 0

    @property
    def plain(self) -> str:
        """The text of a word without quotes and expansions, "" for any other."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Chars):
            return "" if self.parts[0].is_quoted else self.parts[0].text
        return ""


class Element(NamedTuple):
    """One `value` or `[subscript]=value` of an array."""

    subscript: Word | None
    value: Word


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=value`, `name+=value`, `name[subscript]=value` or `name=(elements)`."""

    name: str
    line: int
    value: Word | None = None
    elements: tuple[Element, ...] | None = None
    subscript: Word | None = None
    is_append: bool = False


@dataclass(slots=True)
class HereDocument:
    """A here-document; its body is known once the lines after its command are read."""

    delimiter: str
    is_literal: bool
    strips_tabs: bool
    body: Word = field(default_factory=lambda: Word(()))


@dataclass(frozen=True, slots=True)
class Redirect:
    """`descriptor operator target`; descriptor None is the operator's own."""

    operator: str
    target: Word | HereDocument
    descriptor: int | None = None


@dataclass(frozen=True, slots=True)
class Simple:
    """A command; those that declare variables have assignments among their words."""

    line: int
    assignments: tuple[Assignment, ...] = ()
    words: tuple[Word | Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()


class Item(NamedTuple):
    """A pipeline of a list; `link` is the `&&` or `||` before it, or "".

    `pipes` are the operators between its stages, `|` or `|&`.
    """

    stages: tuple["Node", ...]
    pipes: tuple[str, ...] = ()
    link: str = ""
    is_background: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Pipelines that follow each other."""

    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """`{ ...; }`, or `( ... )` when it is a subshell."""

    body: Block
    is_subshell: bool = False


class Arm(NamedTuple):
    """What is asked, and what is done then; a case has nothing to ask, nor has `else`."""

    check: Block
    body: Block


@dataclass(frozen=True, slots=True)
class Choice:
    """`if` or `case`."""

    arms: tuple[Arm, ...]
    subject: Word | None = None


@dataclass(frozen=True, slots=True)
class While:
    """`while` or `until`."""

    check: Block
    body: Block


@dataclass(frozen=True, slots=True)
class For:
    """`for` or `select` over words; None is over the positional arguments."""

    name: str
    words: tuple[Word, ...] | None
    body: Block


@dataclass(frozen=True, slots=True)
class CountingFor:
    """`for ((start; check; step))`."""

    start: Word
    check: Word
    step: Word
    body: Block


@dataclass(frozen=True, slots=True)
class Function:
    """The definition of a function."""

    name: str
    body: "Node"


@dataclass(frozen=True, slots=True)
class Calculation:
    """`((...))`."""

    expression: Word


@dataclass(frozen=True, slots=True)
class Test:
    """`[[ ... ]]`, as its words."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Redirected:
    """A construct with redirections behind it."""

    node: "Node"
    redirects: tuple[Redirect, ...]


Node = (
    Simple | Group | Choice | While | For | CountingFor | Function | Calculation | Test | Redirected
)
