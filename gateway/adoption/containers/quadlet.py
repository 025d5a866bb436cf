"""Podman's quadlets: `.container` units, from which systemd makes a `podman run`."""

from typing import Final

from gateway.adoption.containers.docker_command import DockerCall, read_run
from gateway.adoption.containers.following import follow_container
from gateway.adoption.containers.relevance import may_hold_engine
from gateway.adoption.containers.unit_file import Setting, Unit
from gateway.adoption.containers.unit_values import (
    UnitName,
    filled_value,
    read_environment,
    unit_name,
    unit_words,
)
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Sighting

_SECTION: Final = "Container"
_OPTIONS: Final = (
    ("AddDevice", "--device"),
    ("PublishPort", "--publish"),
    ("Network", "--network"),
    ("Volume", "--volume"),
    ("Mount", "--mount"),
    ("Entrypoint", "--entrypoint"),
)


def read_quadlet(unit: Unit, file: str) -> Sighting:
    """The container of a `.container` unit and what it starts; never raises.

    It is put together as the command that systemd will run, so that PodmanArgs= count as well.
    (podman-systemd.unit(5).)
    """
    name = unit_name(file)
    environment, notes = read_environment(unit, _SECTION, name, file)
    findings: list[Finding] = list(notes)
    images = unit.every(_SECTION, "Image")
    if not images:
        return Sighting()
    # Without a name of its own the container is called after the unit.
    own = name.filled(unit.last(_SECTION, "ContainerName"))[0]
    words = ["--name", own or f"systemd-{name.full.rpartition('.')[0]}"]
    for key, option in _OPTIONS:
        for setting in unit.every(_SECTION, key):
            words += [option, filled_value(setting, name, file, findings).removeprefix("-")]
    for variable, value in environment.items():
        words += ["--env", f"{variable}={value}"]
    for setting in unit.every(_SECTION, "PodmanArgs"):
        words += _words(setting, name, file, findings)
    words.append(name.filled(images[-1].value)[0])
    lines = [images[-1].line]
    for setting in unit.every(_SECTION, "Exec")[-1:]:
        words += _words(setting, name, file, findings)
        lines.append(setting.line)
    started, noticed_too = read_run(
        DockerCall("run", tuple(words)), environment, Origin(file, images[-1].line)
    )
    found = follow_container(started.container, lines[-1])
    if not found.launches and not may_hold_engine(started.container):
        return found
    return found + Sighting(findings=(*findings, *noticed_too))


def _words(setting: Setting, name: UnitName, file: str, findings: list[Finding]) -> tuple[str, ...]:
    text = filled_value(setting, name, file, findings)
    return unit_words(text, Origin(file, setting.line), findings)
