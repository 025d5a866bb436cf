"""`ascend-gateway config`: check, compare, publish and go back with routing files; their schema."""

import click

from gateway.cli.config_check import check
from gateway.cli.config_diff import diff
from gateway.cli.config_history import history, rollback
from gateway.cli.config_publish import publish
from gateway.config.export import routing_schema_text


@click.group()
def config() -> None:
    """Work with routing files."""


@click.command()
def schema() -> None:
    """Print the JSON schema of routing files."""
    click.echo(routing_schema_text(), nl=False)


for command in (check, diff, history, publish, rollback, schema):
    config.add_command(command)
