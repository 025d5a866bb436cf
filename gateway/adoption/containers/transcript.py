"""Commands as people show them: behind prompts, with output between, in Markdown's code blocks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

MAX_BLOCKS: Final = 2000
MAX_COMMAND_LINES: Final = 200

LEAVE: Final = "leave-this-shell"
"""Stands for an `exit` that was typed; no such command exists."""

_COMMANDS: Final = (
    r"(?:sudo|docker|podman|nerdctl|kubectl|ssh|vllm|python[\d.]*|export|source|nohup|bash|cd)\s"
)
_PROMPT: Final = re.compile(
    r"^\s*(?:\([\w.-]{1,40}\)\s*)?"
    r"(?:\[[\w.-]{1,40}@[^\]\n]{1,80}\]\s*[$#]\s"
    r"|[\w.-]{1,40}@[\w.-]{1,60}(?::[^\s#$]{0,120})?\s*[$#]\s"
    r"|\$\s+)"
)
_ROOT: Final = re.compile(rf"^\s*#\s+(?={_COMMANDS})")
_COMMAND: Final = re.compile(rf"^\s*(?:{_COMMANDS}|[A-Za-z_]\w*=|\.{{0,2}}/|\$)")
_EXIT: Final = re.compile(r"^(?:exit|logout)(?=\s*$)", re.MULTILINE)
_HERE: Final = re.compile(r"<<-?\s*\\?(['\"]?)(\w+)\1")
_MORE: Final = re.compile(r"^\s*> ?")
_FENCE: Final = re.compile(r"^(\s*(?:>\s?)*(?:[-*+]\s+|\d+[.)]\s+)?)(`{3,}|~{3,})\s*([^`]*)$")
_SHELLS: Final = frozenset(
    {"sh", "bash", "shell", "zsh", "console", "shell-session", "terminal", "shellscript"}
)
_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "yaml": "yaml",
        "yml": "yaml",
        "json": "json",
        "ini": "unit",
        "systemd": "unit",
        "service": "unit",
        "dockerfile": "dockerfile",
        "docker": "dockerfile",
        "text": "",
        "txt": "",
        "plaintext": "",
        "log": "",
    }
)


class Block(NamedTuple):
    """One code block: "shell", "" where its kind is not told, or another kind; its first line."""

    kind: str
    text: str
    line: int


def looks_like_markdown(text: str) -> bool:
    """Whether there are code blocks in the text."""
    return next(blocks_in(text), None) is not None


def blocks_in(text: str) -> Iterator[Block]:
    """The code blocks of a Markdown text that may hold commands or manifests, at most MAX_BLOCKS.

    Blocks of programming languages are left out. Indentation of a list or a quotation is taken off.
    """
    fence, indent, kind = "", "", ""
    lines: list[str] = []
    first = count = 0
    for number, line in enumerate(text.split("\n"), 1):
        if fence:
            stripped = line.strip().lstrip("> ")
            if not (stripped.startswith(fence) and not stripped.strip(fence[0])):
                lines.append(_without_indent(line.rstrip("\r"), indent))
                continue
            if kind != "other":
                yield Block(kind, "\n".join(lines), first)
                count += 1
            fence, lines = "", []
            if count >= MAX_BLOCKS:
                return
        elif match := _FENCE.match(line.rstrip("\r")):
            indent, fence = match[1], match[2]
            kind = _kind(match[3])
            first = number + 1


def _kind(info: str) -> str:
    words = [word for word in re.split(r"[\s{},.:]+", info.lower()) if word]
    word = next((word for word in words if word != "code-block"), "")
    if not word:
        return ""
    if word in _SHELLS:
        return "shell"
    return _KINDS.get(word, "other")


def _without_indent(line: str, indent: str) -> str:
    """A line within a list or a quotation as it stands in the block."""
    if ">" in indent:
        line = re.sub(r"^\s*(?:>\s?)+", "", line)
    blanks = len(line) - len(line.lstrip(" \t"))
    return line[min(blanks, len(indent.replace(">", ""))) :]


def without_prompts(text: str) -> str:
    """The text with prompts taken off; lines that are output are empty then.

    A text without prompts stays as it is. `#` counts as root's prompt only where the text begins
    with it and commands stand nowhere else, since it begins comments too.
    """
    lines = text.split("\n")
    if any(_PROMPT.match(line) for line in lines):
        return "\n".join(_typed(lines, _PROMPT))
    if not _ROOT.match(text.lstrip()):
        return text
    typed = tuple(_typed(lines, _ROOT))
    pairs = zip(lines, typed, strict=True)
    is_script = any(not command and _COMMAND.match(line) for line, command in pairs)
    return text if is_script else "\n".join(typed)


def with_leaves(text: str) -> str:
    """Commands as they were typed, with LEAVE for every `exit` and `logout`.

    They leave the container or the host that was entered, not the whole of what was typed.
    """
    return _EXIT.sub(LEAVE, text)


def _typed(lines: Sequence[str], prompt: re.Pattern[str]) -> Iterator[str]:
    """What was typed in each line, with the lines that go on with it."""
    command: _Typing | None = None
    for line in lines:
        if match := prompt.match(line):
            command, text = _Typing(), line[match.end() :]
        elif command is not None:
            text = _MORE.sub("", line, count=1)
        else:
            yield ""
            continue
        yield text
        if not command.takes_more(text):
            command = None


class _Typing:
    """A command of which some lines were typed: the quote and the here-documents that are open."""

    __slots__ = ("_ends", "_lines", "_quote")

    def __init__(self) -> None:
        self._ends: list[str] = []
        self._quote = ""
        self._lines = 0

    def __repr__(self) -> str:
        return f"<_Typing after {self._lines} lines>"

    def takes_more(self, line: str) -> bool:
        """Whether a backslash, a quote or a here-document makes the next line a part of it."""
        self._lines += 1
        line = line.rstrip("\r")
        if self._ends:
            if line.strip() == self._ends[0]:
                del self._ends[0]
            return bool(self._ends) and self._lines < MAX_COMMAND_LINES
        if not self._quote:
            self._ends = [here[2] for here in _HERE.finditer(line)]
        self._quote = _open_quote(line, self._quote)
        is_open = line.endswith("\\") or bool(self._quote or self._ends)
        return is_open and self._lines < MAX_COMMAND_LINES


def _open_quote(line: str, quote: str) -> str:
    """The quote that is open at the end of a line, "" for none, if `quote` was at its start."""
    at = 0
    while at < len(line):
        character = line[at]
        at += 2 if character == "\\" and quote != "'" else 1
        if character == quote:
            quote = ""
        elif not quote and character in "\"'":
            quote = character
        elif not quote and character == "#" and line[:at].endswith((" #", "\t#")):
            break
    return quote
