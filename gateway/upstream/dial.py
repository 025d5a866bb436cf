"""Open connections: resolve, try the addresses, do the TLS handshake, explain failures."""

import asyncio
import ipaddress
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from gateway.errors import ConnectFailed
from gateway.upstream.connection import Connection
from gateway.upstream.origin import Origin, TlsOptions
from gateway.upstream.tls import build_context

# RFC 8305, 8: the delay between two connection attempts.
_ATTEMPT_DELAY_S = 0.25

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
ConnectionFactory = Callable[[], Connection]


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host in the system's order, from the loop's thread pool."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


class Dialer:
    """Opens connections to one origin. Every call resolves the name anew."""

    __slots__ = ("_context", "_context_lock", "_is_literal", "_origin", "_resolver", "_tls")

    def __init__(self, origin: Origin, resolver: Resolver = resolve) -> None:
        self._origin = origin
        self._resolver = resolver
        self._is_literal = _is_address(origin.host)
        self._tls = (origin.tls or TlsOptions()) if origin.scheme == "https" else None
        self._context: ssl.SSLContext | None = None
        self._context_lock = asyncio.Lock()

    async def open(self, factory: ConnectionFactory) -> Connection:
        """A new connection; raises ConnectFailed. Safe to cancel."""
        authority = self._origin.authority
        try:
            context = await self._tls_context()
        except OSError as error:  # ssl.SSLError is one
            raise ConnectFailed(
                f"cannot connect to {authority}: its TLS files are not usable: {error}"
            ) from error
        try:
            addresses = await self._addresses()
        except (OSError, UnicodeError) as error:
            raise ConnectFailed(
                f"cannot connect to {authority}: name not known ({_text(error)});"
                " check the backend's host name and the resolver"
            ) from error
        try:
            return await self._first(addresses, factory, context)
        except OSError as error:
            raise ConnectFailed(f"cannot connect to {authority}: {explain(error)}") from error

    async def _tls_context(self) -> ssl.SSLContext | None:
        if self._tls is None or self._context is not None:
            return self._context
        async with self._context_lock:
            if self._context is None:
                self._context = await asyncio.to_thread(build_context, self._tls)
            return self._context

    async def _addresses(self) -> Sequence[str]:
        if self._is_literal:
            return [self._origin.host]
        addresses = await self._resolver(self._origin.host, self._origin.port)
        if not addresses:
            raise OSError("no address found")
        return addresses

    async def _connect(
        self, address: str, factory: ConnectionFactory, context: ssl.SSLContext | None
    ) -> Connection:
        server_name = None
        if self._tls is not None:
            server_name = self._tls.server_name or self._origin.host
        _, connection = await asyncio.get_running_loop().create_connection(
            factory, address, self._origin.port, ssl=context, server_hostname=server_name
        )
        return connection

    async def _first(
        self,
        addresses: Sequence[str],
        factory: ConnectionFactory,
        context: ssl.SSLContext | None,
    ) -> Connection:
        """The first connection that comes to be (RFC 8305; uvloop has nothing of the kind)."""
        if len(addresses) == 1:
            return await self._connect(addresses[0], factory, context)
        untried = deque(interleave(addresses))
        pending: set[asyncio.Task[Connection]] = set()
        failure: OSError = OSError("no address found")
        loop = asyncio.get_running_loop()
        try:
            while untried or pending:
                if untried:
                    attempt = self._connect(untried.popleft(), factory, context)
                    pending.add(loop.create_task(attempt))
                done, _ = await asyncio.wait(
                    pending,
                    timeout=_ATTEMPT_DELAY_S if untried else None,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for task in done:
                    pending.discard(task)
                    error = task.exception()
                    if error is None:
                        return task.result()
                    if not isinstance(error, OSError):
                        raise error
                    failure = error
            raise failure
        finally:
            await _give_up(pending)


def interleave(addresses: Sequence[str]) -> list[str]:
    """Families take turns, beginning with the family of the first address."""
    first = [one for one in addresses if (":" in one) == (":" in addresses[0])]
    second = [one for one in addresses if (":" in one) != (":" in addresses[0])]
    mixed = [one for pair in zip(first, second, strict=False) for one in pair]
    shorter = min(len(first), len(second))
    return mixed + first[shorter:] + second[shorter:]


def explain(error: OSError) -> str:
    """The cause of a failed connection, and what to do about it."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused; check that the backend runs and listens on this port"
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"certificate verify failed: {error.verify_message}; check ca_file and server_name"
            " of the backend's TLS options"
        )
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or str(error)).replace("_", " ").lower()
        return f"TLS handshake failed: {reason}; check that the backend speaks TLS on this port"
    if isinstance(error, (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)):
        return "the backend closed the connection at once; check what listens on this port"
    return f"{_text(error)}; check the network between here and the backend"


def _text(error: OSError | UnicodeError) -> str:
    strerror = getattr(error, "strerror", None)
    return str(strerror or str(error) or type(error).__name__).lower()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _give_up(attempts: set[asyncio.Task[Connection]]) -> None:
    for task in attempts:
        task.cancel()
    if attempts:
        await asyncio.wait(attempts)
    for task in attempts:
        if not task.cancelled() and task.exception() is None:
            task.result().abort()
