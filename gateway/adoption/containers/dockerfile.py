"""Dockerfiles: what an image starts, with its variables and the ports that it exposes."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from gateway.adoption.containers.following import follow_container
from gateway.adoption.containers.interpolation import interpolate
from gateway.adoption.containers.ports import read_ports
from gateway.adoption.findings import Origin
from gateway.adoption.shell.words import split_words
from gateway.adoption.sources import Container, PortMap, Sighting

_INSTRUCTION: Final = re.compile(r"^\s*([A-Za-z]+)\s+(.*)$", re.DOTALL)
_HERE: Final = re.compile(r"<<-?(['\"]?)(\w+)\1")
_FROM: Final = re.compile(r"^(?:--\S+\s+)*(\S+)(?:\s+[Aa][Ss]\s+(\S+))?\s*$")
_STARTS: Final = re.compile(r"^\s*FROM\s+\S+", re.IGNORECASE | re.MULTILINE)


class Instruction(NamedTuple):
    """One instruction in capitals, what follows it, and its line."""

    word: str
    rest: str
    line: int


@dataclass(frozen=True, slots=True)
class _Stage:
    """An image as far as it is built; `argv` parts are None where nothing is said."""

    base: str = ""
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    entrypoint: tuple[str, ...] | None = None
    command: tuple[str, ...] | None = None
    ports: tuple[PortMap, ...] = ()
    line: int = 0


def looks_like_dockerfile(text: str) -> bool:
    """Whether the first instruction of the text is one that a Dockerfile begins with."""
    first = next(iter(instructions(text)), None)
    return first is not None and first.word in ("FROM", "ARG") and bool(_STARTS.search(text))


def read_dockerfile(text: str, file: str) -> Sighting:
    """The engine that the last stage's image starts by itself; never raises.

    It comes as a container without a name. One whose command starts no engine is left out, as an
    image is no server yet. (Dockerfile reference.)
    """
    stage = _Stage()
    named: dict[str, _Stage] = {}
    arguments: dict[str, str] = {}
    alias = ""
    for instruction in instructions(text):
        if instruction.word == "FROM":
            named[alias] = stage
            stage, alias = _next_stage(instruction, named, arguments)
        elif instruction.word == "ARG":
            name, _, value = instruction.rest.partition("=")
            arguments.setdefault(name.strip(), _filled(value.strip(" \"'"), arguments))
        else:
            stage = _changed(stage, instruction, arguments)
    argv = (*(stage.entrypoint or ()), *(stage.command or ()))
    container = Container(
        origin=Origin(file, stage.line),
        name="",
        image=stage.base,
        environment=stage.environment,
        ports=stage.ports,
        argv=argv,
    )
    found = follow_container(container, stage.line)
    return found if found.launches else Sighting(findings=found.findings)


def instructions(text: str) -> Iterator[Instruction]:
    """The instructions in their order; here-documents and comments are skipped."""
    parts: list[str] = []
    first = 0
    ends: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if ends:
            if stripped == ends[0]:
                del ends[0]
            continue
        if stripped.startswith("#") or (not stripped and not parts):
            continue
        first = first if parts else number
        if stripped.endswith("\\"):
            parts.append(stripped[:-1])
            continue
        match = _INSTRUCTION.match(" ".join((*parts, stripped)))
        parts = []
        if match is None:
            continue
        word = match[1].upper()
        if word in ("RUN", "COPY", "ADD"):
            ends = [here[2] for here in _HERE.finditer(match[2])]
        yield Instruction(word, match[2].strip(), first)


def _next_stage(
    instruction: Instruction, named: Mapping[str, _Stage], arguments: Mapping[str, str]
) -> tuple[_Stage, str]:
    match = _FROM.match(_filled(instruction.rest, arguments))
    image, alias = (match[1], match[2] or "") if match else ("", "")
    if image and image in named:
        return named[image], alias
    return _Stage(base=image), alias


def _changed(stage: _Stage, instruction: Instruction, arguments: Mapping[str, str]) -> _Stage:
    word, rest, line = instruction
    if word == "ENV":
        known = {**arguments, **stage.environment}
        added = dict(_variables(_filled(rest, known)))
        return replace(stage, environment=MappingProxyType({**stage.environment, **added}))
    if word == "ENTRYPOINT":
        # It drops a CMD of the base image, not one of the same file.
        return replace(stage, entrypoint=_command(rest), line=line)
    if word == "CMD":
        return replace(stage, command=_command(rest), line=line)
    if word == "EXPOSE":
        return replace(stage, ports=(*stage.ports, *_exposed(_filled(rest, stage.environment))))
    return stage


def _command(text: str) -> tuple[str, ...]:
    """A JSON list is the command itself, anything else is for a shell."""
    if text.startswith("["):
        try:
            words = json.loads(text)
        except (ValueError, RecursionError):
            words = None
        if isinstance(words, list):
            return tuple(word for word in words if isinstance(word, str))
    return ("/bin/sh", "-c", text)


def _variables(text: str) -> Iterator[tuple[str, str]]:
    """`A=b C="d e"`, or the old `A b c`."""
    name, blank, value = text.partition(" ")
    if blank and "=" not in name:
        yield name, value.strip()
        return
    try:
        words = split_words(text.replace("$", "\\$"))
    except ValueError:
        words = tuple(text.split())
    for word in words:
        key, equals, content = word.partition("=")
        if equals:
            yield key, content


def _exposed(text: str) -> Iterator[PortMap]:
    for word in text.split():
        try:
            yield from read_ports(word)
        except ValueError:
            continue


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return interpolate(text, variables).text
