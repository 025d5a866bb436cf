"""How the tests of this folder read a command line: as a shell would hand it over."""

import shlex
from collections.abc import Callable

import pytest

from gateway.adoption.engine.arguments import EngineArguments, read_arguments
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Launch

Read = Callable[..., tuple[EngineArguments, tuple[Finding, ...]]]


@pytest.fixture
def read() -> Read:
    """`read("vllm serve m ...", "--words", "of a file")`."""

    def read_line(line: str, *config: str) -> tuple[EngineArguments, tuple[Finding, ...]]:
        return read_arguments(Launch(Origin("run.sh", 3), tuple(shlex.split(line))), config)

    return read_line
