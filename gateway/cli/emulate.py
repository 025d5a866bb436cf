"""`ascend-gateway emulate`: a fleet of emulated vLLM-Ascend servers."""

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

import click
import uvloop

from gateway.emulator.faults import Fault, FaultKind
from gateway.emulator.fleet import EmulatedFleet
from gateway.emulator.fleet_file import FleetFileError, load_fleet
from gateway.emulator.spec import BackendSpec

# An open request that SIGTERM lets hang is given up after this.
_HANG_LIMIT_S = 60.0


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--time-scale",
    type=click.FloatRange(min=0, min_open=True),
    help="Run so many times faster than the real cards.",
)
@click.option("--only", multiple=True, help="Start only this backend; may be given several times.")
def emulate(file: Path, time_scale: float | None, only: tuple[str, ...]) -> None:
    """Run the emulated servers of FILE until SIGTERM or Ctrl-C.

    POST /emulator/faults on a server's port makes it fail, GET /emulator/state looks into it.
    """
    try:
        entries = load_fleet(file)
    except OSError as error:
        raise click.ClickException(f"{file}: can't be read: {error.strerror or error}") from error
    except FleetFileError as error:
        raise click.ClickException(str(error)) from error
    missing = sorted(set(only) - {spec.name for spec, _ in entries})
    if missing:
        raise click.UsageError(f"{file} has no backend {', '.join(missing)}")
    chosen = [(spec, fault) for spec, fault in entries if not only or spec.name in only]
    if time_scale is not None:
        chosen = [(replace(spec, time_scale=time_scale), fault) for spec, fault in chosen]
    try:
        uvloop.run(_run(chosen))
    except OSError as error:
        raise click.ClickException(f"can't listen: {error}") from error


async def _run(entries: list[tuple[BackendSpec, Fault | None]]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with EmulatedFleet([spec for spec, _ in entries]) as fleet:
        for backend, (_, fault) in zip(fleet.backends, entries, strict=True):
            if fault is not None:
                backend.set_fault(fault)
            names = ", ".join(backend.spec.served_names)
            click.echo(f"{backend.spec.name} serves {names} on {backend.url}")
        await stop.wait()
        for backend in fleet.backends:
            backend.terminate()
        if any(f is not None and f.kind is FaultKind.SIGTERM_HANG for _, f in entries):
            stop.clear()
            try:
                async with asyncio.timeout(_HANG_LIMIT_S):
                    await stop.wait()
            except TimeoutError:
                return
