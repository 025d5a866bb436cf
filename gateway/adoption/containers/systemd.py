"""systemd services: what `ExecStart=` starts, with the unit's variables and log files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.containers.following import follow_argv
from gateway.adoption.containers.noticed import noticed, once
from gateway.adoption.containers.unit_file import Setting, Unit
from gateway.adoption.containers.unit_values import (
    UnitName,
    note_unfilled,
    read_environment,
    unit_name,
    unit_words,
)
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Sighting

_PREFIX: Final = re.compile(r"^[@\-:+!|]*")
_LOG: Final = re.compile(r"^(?:append|file|truncate):(.+)$")
_VARIABLE: Final = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_BARE: Final = re.compile(r"^\$([A-Za-z_][A-Za-z0-9_]*)$")


def read_service(unit: Unit, file: str) -> Sighting:
    """What the unit's `ExecStart=` lines start; never raises.

    ExecStartPre and its kin prepare something and are not followed. (systemd.service(5),
    systemd.exec(5), systemd.unit(5).)
    """
    name = unit_name(file)
    environment, notes = read_environment(unit, "Service", name, file)
    log_files = tuple(_log_files(unit, name))
    found = Sighting()
    findings: list[Finding] = list(notes)
    for setting in unit.every("Service", "ExecStart"):
        origin = Origin(file, setting.line)
        for argv in _commands(setting, name, environment, origin, findings):
            found += follow_argv(argv, origin, environment, log_files).sighting
    return found + Sighting(findings=once(findings) if found.launches or found.containers else ())


def _log_files(unit: Unit, name: UnitName) -> Iterator[str]:
    for key in ("StandardOutput", "StandardError"):
        if match := _LOG.match(unit.last("Service", key)):
            yield name.filled(match[1])[0]


def _commands(
    setting: Setting,
    name: UnitName,
    environment: Mapping[str, str],
    origin: Origin,
    findings: list[Finding],
) -> Iterator[tuple[str, ...]]:
    """The command lines of one `ExecStart=`; several are parted by a lone semicolon."""
    words: list[str] = []
    for word in (*unit_words(setting.value, origin, findings), ";"):
        if word != ";":
            words.append(";" if word == "\\;" else word)
            continue
        prefix = _PREFIX.match(words[0]) if words else None
        if prefix is not None:
            words[0] = words[0][prefix.end() :]
            if "@" in prefix[0]:
                del words[1:2]
            filled = [name.filled(text) for text in words]
            note_unfilled((u for _, unknown in filled for u in unknown), name, origin, findings)
            argv = [text for text, _ in filled]
            if ":" not in prefix[0]:
                argv = list(_expanded(argv, environment, origin, findings))
            yield tuple(argv)
        words = []


def _expanded(
    words: Sequence[str],
    environment: Mapping[str, str],
    origin: Origin,
    findings: list[Finding],
) -> Iterator[str]:
    """`${A}` is replaced anywhere, `$A` only as a word of its own, which it may split."""

    def value(match: re.Match[str]) -> str:
        variable = match[1]
        if variable is None:
            return "$"
        if variable not in environment:
            findings.append(noticed(Code.VARIABLE_UNSET, origin, variable=variable))
        return environment.get(variable, "")

    for word in words:
        bare = _BARE.match(word)
        if bare is None:
            yield _VARIABLE.sub(value, word)
            continue
        if bare[1] not in environment:
            findings.append(noticed(Code.VARIABLE_UNSET, origin, variable=bare[1]))
        yield from environment.get(bare[1], "").split()
