"""The values of unit files: specifiers such as `%i`, words, variables."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.containers.noticed import noticed
from gateway.adoption.containers.unit_file import Setting, Unit, split_unit_words
from gateway.adoption.findings import Finding, Origin

_SPECIFIER: Final = re.compile(r"%(.)")
_FOLDERS: Final[Mapping[str, str]] = MappingProxyType(
    {"h": "/root", "t": "/run", "S": "/var/lib", "C": "/var/cache", "L": "/var/log", "E": "/etc"}
)
_OF_INSTANCE: Final = "iI"
_UNIT_ENDS: Final = (".service", ".container")


@dataclass(frozen=True, slots=True)
class UnitName:
    """The name of a unit as its file gives it; `instance` is "" for none and for a template."""

    full: str
    prefix: str
    instance: str

    def filled(self, text: str) -> tuple[str, tuple[str, ...]]:
        """`text` with its `%` specifiers replaced, and those that have no value here."""
        unknown: dict[str, None] = {}

        def value(match: re.Match[str]) -> str:
            found = self._value(match[1])
            if found is None:
                if match[1] in _OF_INSTANCE:
                    unknown[match[0]] = None
                return match[0]
            return found

        return _SPECIFIER.sub(value, text), tuple(unknown)

    def _value(self, letter: str) -> str | None:
        if letter in _OF_INSTANCE:
            return self.instance or None
        if letter in "nN":
            return self.full if letter == "n" else self.full.rpartition(".")[0]
        if letter in "pP":
            return self.prefix
        return "%" if letter == "%" else _FOLDERS.get(letter)


def unit_name(file: str) -> UnitName:
    """The name of the unit in `file`, such as vllm@2.service."""
    name = file.replace("\\", "/").rpartition("/")[2]
    if not name.endswith(_UNIT_ENDS):
        name = f"{name.partition('.')[0]}.service"
    stem = name.rpartition(".")[0]
    prefix, _, instance = stem.partition("@")
    return UnitName(name, prefix, instance)


def unit_words(text: str, origin: Origin, findings: list[Finding]) -> tuple[str, ...]:
    """The words of a value; a quote that is not closed is noted, and the blanks count."""
    try:
        return split_unit_words(text)
    except ValueError as error:
        findings.append(noticed(Code.QUOTE_UNCLOSED, origin, quote=error))
        return tuple(text.split())


def note_unfilled(
    specifiers: Iterable[str], name: UnitName, origin: Origin, findings: list[Finding]
) -> None:
    """Notes specifiers that have no value since the unit is a template."""
    findings += [
        noticed(Code.UNIT_SPECIFIER, origin, specifier=specifier, unit=name.full)
        for specifier in dict.fromkeys(specifiers)
    ]


def filled_value(setting: Setting, name: UnitName, file: str, findings: list[Finding]) -> str:
    """The value of a setting with its specifiers replaced."""
    text, unknown = name.filled(setting.value)
    note_unfilled(unknown, name, Origin(file, setting.line), findings)
    return text


def read_environment(
    unit: Unit, section: str, name: UnitName, file: str
) -> tuple[Mapping[str, str], tuple[Finding, ...]]:
    """The variables of a section, and a finding for each file of more variables."""
    found: dict[str, str] = {}
    findings: list[Finding] = []
    for setting in unit.every(section, "Environment"):
        origin = Origin(file, setting.line)
        text = filled_value(setting, name, file, findings)
        for word in unit_words(text, origin, findings):
            variable, equals, value = word.partition("=")
            if equals:
                found[variable] = value
    for setting in unit.every(section, "EnvironmentFile"):
        source = name.filled(setting.value.removeprefix("-"))[0]
        origin = Origin(file, setting.line)
        findings.append(noticed(Code.ENV_FILE_UNREAD, origin, container=name.full, source=source))
    return MappingProxyType(found), tuple(findings)
