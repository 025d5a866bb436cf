"""The listening server: uvicorn, with our protocol, our sockets and our way of shutting down."""

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Final

import uvicorn

from gateway.api.certificate import Certificate
from gateway.api.http_protocol import GatewayHttpProtocol
from gateway.app import Gateway
from gateway.settings import Settings

# uvloop accepts about one connection a turn of the loop for each listening descriptor: 256 clients
# that come at once wait for seconds on one, and for a tenth of one on these.
_DESCRIPTORS: Final = 16
# After the error events are written, connections get so long to take them.
_LAST_WORDS_S: Final = 3.0


def open_socket(host: str, port: int, backlog: int) -> socket.socket:
    """A listening TCP socket; raises OSError that names the address."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, proto, _, address = found[0]
        listener = socket.socket(family, kind, proto)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            listener.bind(address)
            listener.listen(backlog)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror}") from error
    listener.setblocking(False)
    return listener


class Server:
    """Runs a gateway in the current event loop, without touching signals."""

    def __init__(self, gateway: Gateway) -> None:
        """Raises OSError or ValueError when the certificate of the settings can't be used."""
        self._gateway = gateway
        settings = gateway.settings
        self._certificate = _certificate(settings)
        protocol = type(
            "Protocol",
            (GatewayHttpProtocol,),
            {"max_header_bytes": settings.max_header_bytes, "max_head_s": settings.head_s},
        )
        headers = [("server", settings.server_header)] if settings.server_header else []
        config = uvicorn.Config(
            gateway.asgi,
            http=protocol,
            ws="none",
            lifespan="off",
            loop="none",
            log_config=None,
            access_log=False,
            server_header=False,
            headers=headers,
            backlog=settings.backlog,
            timeout_keep_alive=_whole_seconds(settings.keep_alive_s),
            timeout_graceful_shutdown=_whole_seconds(_LAST_WORDS_S),
            # Trusting x-forwarded-for of anybody would let clients choose their address.
            proxy_headers=False,
        )
        config.load()
        if self._certificate is not None:
            # uvicorn would make a context of its own from files, which could not be loaded again.
            config.ssl = self._certificate.context
        self._uvicorn = _Uvicorn(config)
        self._task: asyncio.Task[None] | None = None
        self.port = 0
        gateway.controls.also_reload(self.reload_tls)

    def __repr__(self) -> str:
        return f"<Server port {self.port} {self._gateway!r}>"

    @property
    def scheme(self) -> str:
        """`https` with a certificate, else `http`."""
        return "http" if self._certificate is None else "https"

    def reload_tls(self) -> None:
        """Reads the certificate and its key again, if there are any; running connections stay.

        Raises OSError or ValueError that says what is wrong with which file; the old certificate
        then stays in use. Reads files; safe in a thread beside the event loop.
        """
        if self._certificate is not None:
            self._certificate.reload()

    async def start(self, listener: socket.socket | None = None, beside: Path | None = None) -> int:
        """Listens, on `listener` or as the settings say, and returns the port.

        `beside` is where other workers of this gateway ask this one.
        """
        settings = self._gateway.settings
        if listener is None:
            listener = open_socket(settings.host, settings.port, settings.backlog)
        self.port = listener.getsockname()[1]
        sockets = [listener, *(listener.dup() for _ in range(_DESCRIPTORS - 1))]
        if beside is not None:
            sockets.append(_unix_socket(beside))
        await self._gateway.start()
        self._task = asyncio.create_task(self._uvicorn.serve(sockets), name="server")
        await self._uvicorn.listening.wait()
        return self.port

    async def drain(self) -> None:
        """Lets running requests finish within the settings' limits, then ends them."""
        gateway = self._gateway
        settings = gateway.settings
        gateway.begin_drain()
        gateway.log.event("info", "draining", running=len(gateway.in_flight))
        await asyncio.sleep(settings.drain_grace_s)
        gateway.refuse_new()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(settings.drain_s):
                await gateway.in_flight.wait_until_idle()
        interrupted = gateway.interrupt_all()
        if interrupted:
            gateway.log.event("warning", "drain_limit_reached", interrupted=interrupted)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_WORDS_S):
                    await gateway.in_flight.wait_until_idle()

    async def stop(self) -> None:
        """Closes the listening sockets and every connection."""
        self._gateway.interrupt_all()
        self._uvicorn.should_exit = True
        if self._task is not None:
            await self._task
            self._task = None
        await self._gateway.stop()


class _Uvicorn(uvicorn.Server):
    """uvicorn that says when it listens and leaves signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


def _unix_socket(path: Path) -> socket.socket:
    """A listening socket that only this user can reach, since its folder is."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen(16)
    listener.setblocking(False)
    return listener


def _certificate(settings: Settings) -> Certificate | None:
    if settings.tls_cert_file is None or settings.tls_key_file is None:
        return None
    return Certificate(settings.tls_cert_file, settings.tls_key_file)


def _whole_seconds(seconds: float) -> int:
    return max(1, round(seconds))
