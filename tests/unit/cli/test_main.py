import sys

import click
import pytest
from click.testing import CliRunner

from gateway import __version__
from gateway.cli.main import COMMANDS, main


def test_version() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert (result.exit_code, result.output) == (0, f"ascend-gateway, version {__version__}\n")


def test_help_lists_every_command_with_a_line_about_it() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    for name in COMMANDS:
        (line,) = (words for words in lines if words[:1] == [name])
        assert len(line) > 1, f"{name} has no help"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_entry_of_the_table_is_a_command(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name


def test_an_unknown_command_is_refused() -> None:
    result = CliRunner().invoke(main, ["serv"])
    assert result.exit_code == 2
    assert "serv" in result.output


def test_a_command_is_not_loaded_before_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "gateway.cli.emulate", raising=False)
    result = CliRunner().invoke(main, ["config", "--help"])
    assert result.exit_code == 0, result.output
    assert "gateway.cli.emulate" not in sys.modules
