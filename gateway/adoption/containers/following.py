"""What shell commands start: engines, containers and what runs in them, here and elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from gateway.adoption.codes import Code
from gateway.adoption.containers.assumed_entry import with_entry
from gateway.adoption.containers.docker_command import (
    DockerCall,
    read_call,
    read_exec,
    read_run,
)
from gateway.adoption.containers.noticed import noticed
from gateway.adoption.containers.relevance import Relevance, may_hold_engine, speaks_of_engines
from gateway.adoption.containers.remote_command import Remote, read_remote
from gateway.adoption.containers.transcript import LEAVE
from gateway.adoption.containers.unknown_parts import with_name, without_unknown
from gateway.adoption.engine.arguments import is_engine_command
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.shell.script import Command, Script, read_argv, read_script
from gateway.adoption.sources import Container, Launch, Sighting

MAX_DEPTH: Final = 5
MAX_INNER: Final = 1000

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Written(NamedTuple):
    """A text that a script writes to a file or hands to a program, and the line it begins on."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Followed:
    """What was found, and the texts that may be sources of their own."""

    sighting: Sighting
    written: tuple[Written, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run: in a container that is started or was there, on a host, or not told."""

    container: Container | None = None
    container_name: str = ""
    host: str = ""
    log_files: tuple[str, ...] = ()
    depth: int = 0


_HERE: Final = Place()


def follow_text(
    text: str, file: str, *, environment: Mapping[str, str] = _NOTHING, first_line: int = 1
) -> Followed:
    """What a shell script starts; never raises.

    Commands in containers, on other hosts and in here-documents are followed up to MAX_DEPTH deep
    and MAX_INNER in all. Findings of commands that have to do with no engine are left out.
    """
    follower = _Follower(file)
    script = read_script(text, file, environment=environment, first_line=first_line)
    sighting = follower.script(script, _HERE, is_meant=speaks_of_engines(text))
    return Followed(sighting + follower.end(), tuple(follower.written))


def follow_argv(
    argv: tuple[str, ...],
    origin: Origin,
    environment: Mapping[str, str],
    log_files: tuple[str, ...] = (),
) -> Followed:
    """What one command starts whose words are known, such as that of a unit; never raises."""
    follower = _Follower(origin.file)
    script = read_argv(argv, origin.file, environment=environment, line=origin.line)
    is_meant = speaks_of_engines(" ".join(argv))
    sighting = follower.script(script, Place(log_files=log_files), is_meant=is_meant)
    return Followed(sighting + follower.end(), tuple(follower.written))


def follow_container(
    container: Container, text_line: int = 0, script: tuple[str, ...] = ()
) -> Sighting:
    """The container, and the engines that its own command starts; never raises.

    `text_line` is the line of a script within the command, if it is not that of the container.
    `script` is followed in place of the container's command where that is known to be its meaning.
    """
    follower = _Follower(container.origin.file)
    sighting = follower.container(container, _HERE, Written("", 0), text_line, script)
    return sighting + follower.end()


class _Follower:
    """One source being followed, and how much of it there was."""

    __slots__ = ("_file", "_inner", "_is_cut", "written")

    def __init__(self, file: str) -> None:
        self._file = file
        self._inner = 0
        self._is_cut = False
        self.written: list[Written] = []

    def __repr__(self) -> str:
        return f"<_Follower of {self._file} after {self._inner} commands inside others>"

    def script(self, script: Script, place: Place, *, is_meant: bool) -> Sighting:
        found = Sighting()
        chosen: set[int] = set()
        left: list[Place] = []
        for index, command in enumerate(script.commands):
            if command.argv == (LEAVE,):
                place = left.pop() if left else place
                continue
            before = place
            seen, place = self._command(command, place)
            if place is not before:
                left.append(before)
            if seen.launches or any(may_hold_engine(one) for one in seen.containers):
                chosen.add(index)
            found += seen
        relevance = Relevance(
            script.commands, frozenset(chosen), is_found=bool(chosen), is_meant=is_meant
        )
        return replace(found, findings=found.findings + relevance.kept(script.findings))

    def container(
        self,
        container: Container,
        place: Place,
        stdin: Written,
        text_line: int = 0,
        script: tuple[str, ...] = (),
    ) -> Sighting:
        """A container that is started, and what its own command starts."""
        findings: list[Finding] = []
        argv = script or container.argv
        if assumed := () if script else with_entry(container):
            added = " ".join(assumed[: len(assumed) - len(argv)])
            findings.append(
                noticed(
                    Code.ENTRYPOINT_ASSUMED,
                    container.origin,
                    container=container.name or container.image,
                    entrypoint=added,
                )
            )
            argv = assumed
        elif not argv and stdin.text:
            argv = ("sh",)
        inside = replace(
            place, container=container, container_name="", host=place.host or container.node
        )
        line = text_line or container.origin.line
        found = self._argv(argv, inside, container.environment, line, stdin)
        if not found.launches and not may_hold_engine(container):
            return Sighting(containers=(container,))
        return Sighting(containers=(container,), findings=tuple(findings)) + found

    def _command(self, command: Command, place: Place) -> tuple[Sighting, Place]:
        """What one command starts, and where the next ones run.

        That changes where a shell is opened to type in, as in notes and transcripts: what follows
        `docker exec -it NAME bash` or `ssh HOST` is meant for there, until LEAVE.
        """
        argv = command.argv
        if is_engine_command(argv):
            return Sighting((_launch(command, place),)), place
        call = read_call(argv, command.environment)
        if call is not None and call.is_run:
            return self._run(call, command, place)
        if call is not None:
            return self._exec(call, command, place)
        remote = read_remote(argv)
        if remote is not None:
            return self._remote(remote, command, place)
        if command.stdin_script:
            self.written.append(Written(command.stdin_script, command.stdin_line))
        return Sighting(), place

    def _run(self, call: DockerCall, command: Command, place: Place) -> tuple[Sighting, Place]:
        started, findings = read_run(call, command.environment, command.origin)
        container = without_unknown(started.container, command.unset)
        if not container.node:
            container = replace(container, node=place.host)
        found = self.container(container, _within(place, command), _stdin(command))
        if found.launches or may_hold_engine(container):
            found += Sighting(findings=findings)
        if not started.is_entered or command.stdin_script:
            return found, place
        if container.name:
            return found, replace(place, container=None, container_name=container.name)
        return found, replace(place, container=container, container_name="")

    def _exec(self, call: DockerCall, command: Command, place: Place) -> tuple[Sighting, Place]:
        inside, findings = read_exec(call, command.environment, command.origin)
        inside = with_name(inside, command.unset)
        there = replace(
            place,
            container=None,
            container_name=inside.container_name,
            host=call.host or place.host,
        )
        line, stdin = command.origin.line, _stdin(command)
        found = self._argv(inside.argv, _within(there, command), inside.environment, line, stdin)
        if found.launches:
            found += Sighting(findings=findings)
        return found, there if inside.is_entered and not stdin.text else place

    def _remote(self, remote: Remote, command: Command, place: Place) -> tuple[Sighting, Place]:
        line, stdin = command.origin.line, _stdin(command)
        if remote.argv:
            there = replace(place, container=None, container_name=remote.container_name)
            found = self._argv(remote.argv, _within(there, command), _NOTHING, line, stdin)
            return found, there if remote.is_entered and not stdin.text else place
        there = replace(place, host=remote.host or place.host)
        if remote.text and stdin.text:
            # `ssh HOST bash -s <<EOF`: the shell that is called there reads the input.
            argv = tuple(remote.text.split())
            return self._argv(argv, _within(there, command), _NOTHING, line, stdin), place
        text, first_line = (remote.text, line) if remote.text else stdin
        if not text:
            return Sighting(), there if remote.is_entered else place
        inner = _within(there, command)
        if not self._may_go_on(inner):
            return Sighting(), place
        script = read_script(text, self._file, first_line=first_line)
        return self.script(script, inner, is_meant=speaks_of_engines(text)), place

    def _argv(
        self,
        argv: tuple[str, ...],
        place: Place,
        environment: Mapping[str, str],
        line: int,
        stdin: Written,
    ) -> Sighting:
        if not argv or not self._may_go_on(place):
            return Sighting()
        script = read_argv(
            argv,
            self._file,
            environment=environment,
            line=line,
            stdin_script=stdin.text,
            stdin_line=stdin.line,
        )
        return self.script(script, place, is_meant=speaks_of_engines(" ".join(argv)))

    def end(self) -> Sighting:
        """Whether there was more than was followed."""
        if not self._is_cut:
            return Sighting()
        limit = f"{MAX_INNER} commands in containers and on other hosts, {MAX_DEPTH} deep"
        return Sighting(findings=(noticed(Code.SHELL_TOO_MUCH, Origin(self._file), limit=limit),))

    def _may_go_on(self, place: Place) -> bool:
        self._inner += 1
        may = place.depth <= MAX_DEPTH and self._inner <= MAX_INNER
        self._is_cut = self._is_cut or not may
        return may


def _launch(command: Command, place: Place) -> Launch:
    return Launch(
        origin=command.origin,
        argv=command.argv,
        environment=command.environment,
        container_name=place.container_name,
        container=place.container,
        log_files=tuple(dict.fromkeys((*place.log_files, *command.log_files))),
        host=place.host,
    )


def _stdin(command: Command) -> Written:
    return Written(command.stdin_script, command.stdin_line)


def _within(place: Place, command: Command) -> Place:
    """The place inside what `command` starts: its output goes where that of the command goes."""
    log_files = (*place.log_files, *command.log_files)
    return replace(place, depth=place.depth + 1, log_files=log_files)
