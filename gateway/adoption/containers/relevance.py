"""What matters for engines: of the containers of a source, and of what was noticed in scripts."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.shell.script import Command
from gateway.adoption.sources import Container

_IMAGES: Final = ("vllm", "ascend", "mindie")
_VARIABLES: Final = ("ASCEND_", "VLLM_", "HCCL_")
_NEAR: Final = frozenset(
    {
        Code.LINE_NOT_CONTINUED,
        Code.BLANK_AFTER_BACKSLASH,
        Code.TYPOGRAPHIC_CHARACTER,
    }
)
_SCRIPTS: Final = (".sh", ".bash")
_SHORT: Final = 3
_WORDS: Final = ("vllm serve", "vllm.entrypoints", "davinci", "docker run", "docker exec")


def may_hold_engine(container: Container) -> bool:
    """Whether a container has anything of an engine: NPUs, an image or variables for them."""
    image = container.image.lower()
    return (
        container.npus is None
        or bool(container.npus or container.npus_wanted)
        or any(word in image for word in _IMAGES)
        or any(name.startswith(_VARIABLES) for name in container.environment)
    )


def speaks_of_engines(text: str) -> bool:
    """Whether a text that could not be read was likely meant to start an engine."""
    lowered = text[:200_000].lower()
    return any(word in lowered for word in _WORDS)


@dataclass(frozen=True, slots=True)
class Relevance:
    """The commands of a script, and which of them start an engine or a container."""

    commands: tuple[Command, ...]
    chosen: frozenset[int]
    is_found: bool
    is_meant: bool

    def kept(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings that concern one of those commands.

        A variable concerns it by its name or its value, an odd character by its place, a file that
        was not followed by standing before it. What stopped the reading concerns everything.
        """
        unset = frozenset(name for command in self._relevant() for name in command.unset)
        return tuple(finding for finding in findings if self._concerns(finding, unset))

    def _concerns(self, finding: Finding, unset: Collection[str]) -> bool:
        code, line = finding.code, finding.origin.line
        if code is Code.VARIABLE_UNSET:
            return finding.values.get("variable", "") in unset
        if code is Code.VARIABLE_DEFAULT:
            return self._is_used(finding.values.get("value", ""))
        if code is Code.SHELL_NOT_FOLLOWED:
            what = finding.values.get("what", "")
            if what.startswith(("$(", "`")):
                return what in unset
            if self.is_found:
                return self._is_before(line)
            return self.is_meant or what.endswith(_SCRIPTS)
        if code in _NEAR:
            return self._is_near(line)
        return self.is_found or self.is_meant

    def _relevant(self) -> Sequence[Command]:
        return [self.commands[index] for index in sorted(self.chosen)]

    def _is_used(self, value: str) -> bool:
        if not value:
            return False
        # A number such as 7 is part of many others.
        edge = r"(?<![\w.]){}(?![\w.])" if len(value) <= _SHORT else "{}"
        pattern = re.compile(edge.format(re.escape(value)))
        return any(
            pattern.search(text)
            for command in self._relevant()
            for text in (*command.argv, *command.environment.values(), command.stdin_script)
        )

    def _is_before(self, line: int) -> bool:
        return any(line <= command.origin.line for command in self._relevant())

    def _is_near(self, line: int) -> bool:
        """Whether the command before that line, or the one after it, is one of them."""
        before = after = None
        for index, command in enumerate(self.commands):
            if command.argv[0].startswith("-"):
                continue
            if command.origin.line <= line:
                before = index
            elif after is None:
                after = index
        return before in self.chosen or after in self.chosen
