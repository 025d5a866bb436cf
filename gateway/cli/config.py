"""`ascend-gateway config`: check a routing file, print the schema of routing files."""

import json
from pathlib import Path
from typing import Any

import click

from gateway.config.capture import concurrency_cap
from gateway.config.export import routing_schema_text
from gateway.config.load import Loaded, load_file
from gateway.config.members import members
from gateway.config.schema import BackendConfig, RoutingConfig


@click.group()
def config() -> None:
    """Work with routing files."""


@config.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print."
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.pass_context
def check(ctx: click.Context, file: Path, form: str, strict: bool) -> None:
    """Show every problem of FILE, and each backend as the gateway would use it.

    Exit status: 0 when the file can be used, 1 when it has errors (with --strict also warnings),
    2 when it can't be read.
    """
    try:
        loaded = load_file(file)
    except OSError as error:
        click.echo(f"{file}: can't be read: {error.strerror or error}", err=True)
        ctx.exit(2)
    is_good = not (loaded.problems if strict else loaded.errors)
    click.echo(_as_json(loaded, is_good) if form == "json" else _as_text(loaded, file, is_good))
    ctx.exit(0 if is_good else 1)


@config.command()
def schema() -> None:
    """Print the JSON schema of routing files."""
    click.echo(routing_schema_text(), nl=False)


def _as_text(loaded: Loaded, file: Path, is_good: bool) -> str:
    parts = [loaded.render()] if loaded.problems else []
    if loaded.config is not None:
        parts += [_backends(loaded.config), _models(loaded.config)]
    errors, warnings = len(loaded.errors), len(loaded.warnings)
    verdict = "ok" if is_good else "not usable"
    parts.append(f"{file}: {verdict}, {_count(errors, 'error')}, {_count(warnings, 'warning')}")
    return "\n\n".join(part for part in parts if part)


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _backends(routing: RoutingConfig) -> str:
    rows = [_row(backend) for backend in routing.backends]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _row(backend: BackendConfig) -> tuple[str, ...]:
    cap, hard = concurrency_cap(backend)
    limit = f"cap {cap}" if cap == hard else f"cap {cap} (hard limit {hard})"
    return (
        backend.name,
        f"{backend.base_url}/v1/chat/completions",
        f"served as {backend.served_name}",
        f"tier {backend.tier}",
        limit,
        "" if backend.enabled else "disabled",
    )


def _models(routing: RoutingConfig) -> str:
    lines = []
    for model in routing.models:
        serving = ", ".join(member.backend.name for member in members(routing, model)) or "nobody"
        line = f"model {model.name}: {serving if model.enabled else 'disabled'}"
        if model.aliases:
            line += f"; also called {', '.join(model.aliases)}"
        if model.fallback_models:
            line += f"; then {', '.join(model.fallback_models)}"
        lines.append(line)
    return "\n".join(lines)


def _as_json(loaded: Loaded, is_good: bool) -> str:
    backends: list[dict[str, Any]] = []
    for backend in loaded.config.backends if loaded.config else ():
        cap, hard = concurrency_cap(backend)
        backends.append(
            {
                "name": backend.name,
                "base_url": backend.base_url,
                "served_name": backend.served_name,
                "tier": backend.tier.value,
                "cap": cap,
                "hard_limit": hard,
                "enabled": backend.enabled,
            }
        )
    report = {
        "ok": is_good,
        "version_hash": loaded.version_hash,
        "problems": [problem.as_dict() for problem in loaded.problems],
        "backends": backends,
    }
    return json.dumps(report, indent=2, ensure_ascii=False)
