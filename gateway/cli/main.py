"""The command `ascend-gateway`: a table of subcommands, each loaded when it is called.

Loading lazily keeps `ascend-gateway config check` free of the web server, and the emulator free of
the gateway.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Final

import click

from gateway import __version__

# Subcommand -> module and attribute that hold it.
COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "serve": ("gateway.cli.serve", "serve"),
    "emulate": ("gateway.cli.emulate", "emulate"),
    "config": ("gateway.cli.config", "config"),
    "adopt": ("gateway.cli.adopt", "adopt"),
    "reload": ("gateway.cli.control", "reload"),
    "drain": ("gateway.cli.control", "drain"),
    "undrain": ("gateway.cli.control", "undrain"),
    "diagnose": ("gateway.cli.diagnose", "diagnose"),
    "explain": ("gateway.cli.explain", "explain"),
}


class LazyGroup(click.Group):
    """A group whose subcommands are imported only when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None (click then names the close matches)."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name]
        command = getattr(import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{module}.{attribute} is not a click command")
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ascend-gateway")
def main() -> None:
    """One OpenAI endpoint in front of many vLLM-Ascend servers."""


if __name__ == "__main__":
    main()
