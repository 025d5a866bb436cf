"""The output of `ps`: engines as they run, whose quotes are lost."""

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from gateway.adoption.containers.following import follow_argv, follow_text
from gateway.adoption.findings import Origin
from gateway.adoption.sources import Launch, Sighting

_HEADER: Final = re.compile(r"^\s*(?:\S+\s+)*PID\s.*\b(?:CMD|COMMAND|ARGS)\s*$")
_TIME: Final = r"(?:\d+-)?\d{1,3}:\d{2}(?::\d{2})?(?:\.\d{2})?"
_FULL: Final = re.compile(rf"^\s*\S+\s+\d+\s+\d+\s+\d+\s+\S+\s+\S+\s+{_TIME}\s+(.+)$")
_BSD: Final = re.compile(
    rf"^\s*\S+\s+\d+\s+[\d.]+\s+[\d.]+\s+\d+\s+\d+\s+\S+\s+\S+\s+\S+\s+{_TIME}\s+(.+)$"
)
_SHORT: Final = re.compile(rf"^\s*\d+\s+\S+\s+(?:\S+\s+)?{_TIME}\s+(.+)$")
_PID: Final = re.compile(r"^\s*\d+\s+(.+)$")
_FOREST: Final = re.compile(r"^[\s|\\_`-]*(?:\\_|`-|\|-)\s+")
_SHELL: Final = re.compile(r"^(?:\S*/)?(?:bash|sh|dash)\s+-\w*c\s+(.+)$")
_ENGINE: Final = re.compile(r"\bvllm serve\b|vllm\.entrypoints|/vllm serve\b")


def looks_like_processes(text: str) -> bool:
    """Whether lines of the text are processes: a header of `ps`, or engines behind numbers."""
    lines = text.split("\n")
    if any(_HEADER.match(line[:1000]) for line in lines[:5]):
        return True
    return any(_ENGINE.search(line) and _command(line) for line in lines)


def read_processes(text: str, file: str) -> Sighting:
    """The engines among processes; never raises.

    Where a shell and the engine that it runs are both there, one is kept: the shell's line tells
    the variables. Variables that were exported before can't be seen.
    """
    found: dict[tuple[str, ...], Launch] = {}
    sighting = Sighting()
    for number, line in enumerate(text.split("\n"), 1):
        command = _command(line)
        if not command or not _ENGINE.search(command):
            continue
        seen = _read(_FOREST.sub("", command), Origin(file, number))
        sighting += Sighting(containers=seen.containers, findings=seen.findings)
        for launch in seen.launches:
            key = _arguments(launch.argv)
            known = found.get(key)
            if known is None or len(known.environment) < len(launch.environment):
                found[key] = launch
    return Sighting(tuple(found.values())) + sighting


def _command(line: str) -> str:
    """What a line of `ps -ef`, `ps aux`, `ps`, or `pgrep -af` says was started; "" for others."""
    for pattern in (_BSD, _FULL, _SHORT, _PID):
        if match := pattern.match(line):
            return match[1]
    return ""


def _read(command: str, origin: Origin) -> Sighting:
    """A shell's text is read as such; of anything else the words are put together again."""
    if match := _SHELL.match(command):
        return follow_text(match[1], origin.file, first_line=origin.line).sighting
    return follow_argv(tuple(_words(command)), origin, MappingProxyType({})).sighting


def _words(command: str) -> Iterator[str]:
    """The words between blanks; JSON, which has blanks of its own, is one."""
    held: list[str] = []
    depth = 0
    for word in command.split():
        if held or word.startswith(("{", "[")) or "={" in word:
            held.append(word)
            depth += sum(word.count(c) for c in "{[") - sum(word.count(c) for c in "}]")
            if depth > 0:
                continue
            word = " ".join(held)
            held, depth = [], 0
        yield word
    yield from held


def _arguments(argv: tuple[str, ...]) -> tuple[str, ...]:
    """What stands behind `serve` or the module, the same however the engine is called."""
    for index, word in enumerate(argv):
        if word == "serve" or word.startswith("vllm.entrypoints"):
            return argv[index + 1 :]
    return argv
