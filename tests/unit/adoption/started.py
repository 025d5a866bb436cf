"""Starts, logs and running servers for the tests of how they are put together."""

from typing import Any

from gateway.adoption.findings import Origin
from gateway.adoption.sources import Container, EngineLog, Launch
from gateway.adoption.starts import Start, start_of
from gateway.fleet.account import Account
from gateway.fleet.health.evidence import ModelCard


def start(line: str, container: Container | None = None, **fields: Any) -> Start:
    """The start of a command line; `fields` are those of the launch."""
    argv = ("vllm", "serve", *line.split())
    return start_of(Launch(Origin("serve.sh", 3), argv, container=container, **fields))


def box(**fields: Any) -> Container:
    """A container."""
    return Container(**{"origin": Origin("run.sh", 1), "name": "box", **fields})


def log(file: str = "engine.log", **says: Any) -> EngineLog:
    """A log of an engine."""
    return EngineLog(Origin(file, 1), **says)


def running(url: str, *names: str, root: str = "/models/m", **fields: Any) -> Account:
    """A running server that lists these names."""
    return Account(url, cards=tuple(ModelCard(name, root=root) for name in names), **fields)
