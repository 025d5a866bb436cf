"""The templates of the engines, and what `ascend-gateway adopt script` makes of them."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from gateway.adoption.candidate import Candidate
from gateway.adoption.draft import draft
from gateway.adoption.findings import Finding
from gateway.adoption.merging import merge
from gateway.adoption.reading import read_source
from gateway.adoption.rules import traps_of
from gateway.adoption.sources import Sighting
from gateway.adoption.telling import in_order
from gateway.words import Language
from tests.deploy.gateway_tools import DEPLOY, run

BACKENDS: Final = DEPLOY / "backends"
ENGINE: Final = BACKENDS / "engine.sh"
NAMES: Final = ("9b", "27b", "8b", "2b", "9b-eager")
HOSTS: Final[Mapping[str, str]] = {
    "9b": "host-a",
    "27b": "host-a",
    "8b": "host-a",
    "2b": "127.0.0.1",
    "9b-eager": "desktop-b",
}
COMPOSE: Final = tuple(sorted((BACKENDS / "compose").glob("*.yaml")))
KUBERNETES: Final = BACKENDS / "kubernetes" / "engines.yaml"


class Adopted(NamedTuple):
    """What was made of the sources."""

    candidates: tuple[Candidate, ...]
    findings: tuple[Finding, ...]
    routing_file: str


@cache
def printed(name: str) -> str:
    """The command that engine.sh would run."""
    done = run(ENGINE, "print", name, env={"VLLM_ETC": str(BACKENDS / "env")})
    assert done.returncode == 0, done.stdout
    return done.stdout


def sources_of(kind: str) -> dict[str, str]:
    """Texts by name: of `docker NAME`, of a Compose file, or of the manifests."""
    word, _, name = kind.partition(" ")
    if word == "docker":
        return {f"{name}.sh": printed(name)}
    file = KUBERNETES if word == "kubernetes" else BACKENDS / "compose" / name
    return {file.name: file.read_text(encoding="utf-8")}


KINDS: Final = (
    *(f"docker {name}" for name in NAMES),
    *(f"compose {file.name}" for file in COMPOSE),
    "kubernetes",
)


def adopted(texts: Mapping[str, str], host: str = "host-a") -> Adopted:
    """As `adopt script FILES engine.yaml --host HOST` does it."""
    sighting = Sighting()
    for name, text in texts.items():
        sighting += read_source(text, name)
    key = (BACKENDS / "engine.yaml").read_text(encoding="utf-8")
    fleet = merge(sighting, host=host, configs={"engine.yaml": key})
    findings = in_order((*fleet.findings, *traps_of(fleet)))
    return Adopted(fleet.candidates, findings, draft(fleet, [*texts], Language.EN))


def by_name(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """Each by its container's name, without what Kubernetes needs before it."""
    named = {}
    for candidate in candidates:
        assert candidate.container is not None
        named[candidate.container.name.removeprefix("vllm-")] = candidate
    return named


def words_of(container: Mapping[str, Any]) -> list[str]:
    """The command of a service or a pod's container, as a list."""
    return [str(word) for word in (*container.get("command", ()), *container.get("args", ()))]


def stub(folder: Path, name: str, lines: str) -> Path:
    """A program that stands in for a real one."""
    file = folder / name
    file.write_text(f"#!/bin/bash\n{lines}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def calls_in(file: Path) -> list[list[str]]:
    """What a stub was called with, where it wrote one JSON list a line."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
