"""`ascend-gateway serve`: the gateway itself."""

import asyncio
import gc
import signal
import socket
import sys
from typing import Any

import click
import uvloop

from gateway.app import Gateway, build_gateway
from gateway.cli.options import read_settings, settings_options
from gateway.cli.serve_workers import Place, Watch
from gateway.config.load import load_file
from gateway.config.schema import RoutingConfig
from gateway.server import Server, open_socket
from gateway.settings import Settings
from gateway.upstream.siblings import Siblings, socket_path


@click.command()
@settings_options
@click.option("--worker", default=None, hidden=True)
@click.pass_context
def serve(ctx: click.Context, /, worker: str | None, **values: Any) -> None:
    """Serve the models of a routing file under one OpenAI endpoint.

    SIGTERM or SIGINT: not ready any more, running requests finish, then exit. A second one exits
    at once. SIGHUP: the routing file, keys of backends and the certificate are read again.
    """
    settings = read_settings(values)
    routing = _routing(settings)
    try:
        if settings.workers > 1 and worker is None:
            status = uvloop.run(_watch(settings))
        else:
            status = uvloop.run(
                _serve(settings, routing, None if worker is None else Place.read(worker))
            )
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    ctx.exit(status)


def _routing(settings: Settings) -> RoutingConfig:
    """The routing file; warnings are shown, errors end the command."""
    file = settings.config_file
    if file is None:
        raise click.UsageError("no routing file; name one with --config-file FILE")
    try:
        loaded = load_file(file)
    except OSError as error:
        raise click.ClickException(f"{file}: can't be read: {error.strerror or error}") from error
    if loaded.problems:
        click.echo(loaded.render(), err=True)
    if loaded.config is None:
        raise click.ClickException(f"{file} has errors and is not used; mend what is listed above")
    return loaded.config


def _spare_the_collector() -> None:
    """Lets Python's cycle collector run seldom and skip what lives for ever.

    Requests leave next to no cycles behind, and every look through the modules costs milliseconds
    in which no stream moves.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


async def _watch(settings: Settings) -> int:
    """Runs the workers; returns the exit status."""
    listener = open_socket(settings.host, settings.port, settings.backlog)
    _announce(settings, listener)
    return await Watch(settings, listener, sys.argv[1:]).run()


def _announce(settings: Settings, listener: socket.socket) -> None:
    scheme = "http" if settings.tls_cert_file is None else "https"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    port = listener.getsockname()[1]
    click.echo(f"ascend-gateway listens on {scheme}://{host}:{port}/v1", err=True)


async def _serve(settings: Settings, routing: RoutingConfig, place: Place | None) -> int:
    """Runs until a signal and a drain; returns the exit status."""
    told, again = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        (again if told.is_set() else told).set()

    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, on_signal)
    # From the first moment on: unheard, the signal would end the process.
    hangups = asyncio.Event()
    loop.add_signal_handler(signal.SIGHUP, hangups.set)
    siblings = None
    if place is None:
        listener = open_socket(settings.host, settings.port, settings.backlog)
    else:
        listener = socket.socket(fileno=place.listener)
        # Python takes it for a blocking one, and would make it so for all workers.
        listener.setblocking(False)
        # The pipe ends when the watching process does, whatever became of it.
        loop.add_reader(place.life, told.set)
        siblings = Siblings(place.folder, place.number)
    gateway = build_gateway(settings, routing, siblings=siblings)
    server = Server(gateway)
    beside = None if place is None else socket_path(place.folder, place.number)
    await server.start(listener, beside)
    reloading = asyncio.create_task(_reload_on(hangups, gateway), name="hangups")
    _spare_the_collector()
    if place is None:
        _announce(settings, listener)
    await told.wait()
    if place is not None:
        loop.remove_reader(place.life)
    reloading.cancel()
    draining = asyncio.create_task(server.drain())
    impatient = asyncio.create_task(again.wait())
    await asyncio.wait({draining, impatient}, return_when=asyncio.FIRST_COMPLETED)
    for task in (draining, impatient):
        task.cancel()
    await asyncio.wait({draining, impatient})
    await server.stop()
    return 0


async def _reload_on(hangups: asyncio.Event, gateway: Gateway) -> None:
    """Reads the routing file again at each SIGHUP; those that come meanwhile count as one."""
    while True:
        await hangups.wait()
        hangups.clear()
        try:
            await gateway.controls.reload("SIGHUP")
        except Exception as error:  # noqa: BLE001 - the next one must be heard
            gateway.log.crash("reload_crashed", error)
