"""One emulated vLLM server on a port: its engine, its routes, and its way of going wrong."""

import asyncio
import time
from dataclasses import replace
from typing import Any

from gateway.emulator.call import Call, CutError
from gateway.emulator.control import answer_control
from gateway.emulator.driver import Driver
from gateway.emulator.engine import Engine
from gateway.emulator.faults import BEFORE_FAULTS, Fault, FaultBoard, FaultKind
from gateway.emulator.metrics import Metrics
from gateway.emulator.presets import DEFAULT_PRESET, preset
from gateway.emulator.refusals import (
    ENGINE_DEAD,
    SHUTTING_DOWN,
    Refused,
    not_found,
    told_to_answer,
)
from gateway.emulator.routes import STORED_RESPONSE, Route, routes_of
from gateway.emulator.spec import BackendSpec
from gateway.emulator.state import Recorded, ServerState
from gateway.emulator.wire import Connection, Exchange, HttpRequest, OpenConnections

_BODY_KEPT_BYTES = 256 * 1024
_UNCOUNTED = frozenset({"/health", "/metrics", "/load", "/ping", "/version"})
_SIGTERM = frozenset({FaultKind.SIGTERM_HANG, FaultKind.SIGTERM_ERROR, FaultKind.SIGTERM_ABORT})
_CRASH = frozenset({FaultKind.CRASH_AT_FIRST_INFERENCE})
_DEAD = Fault(FaultKind.ENGINE_DEAD)


class EmulatedBackend:
    """A backend that runs in the event loop it is started in."""

    def __init__(self, spec: BackendSpec) -> None:
        self.spec = spec
        self.faults = FaultBoard()
        self._routes = routes_of(spec)
        self._connections = OpenConnections()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = spec.port
        self.state: ServerState | None = None

    def __repr__(self) -> str:
        return f"<EmulatedBackend {self.spec.name} on {self._port} listens={self.is_listening}>"

    @property
    def port(self) -> int:
        """The port, also while nothing listens on it."""
        return self._port

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{self.spec.host}:{self._port}"

    @property
    def is_listening(self) -> bool:
        """Whether connections are taken."""
        return self._server is not None

    @property
    def live(self) -> ServerState:
        """The live parts; RuntimeError before `start`."""
        if self.state is None:
            raise RuntimeError(f"{self!r} was not started")
        return self.state

    async def start(self) -> None:
        """Build the engine and listen, after the spec's start delay; raises OSError."""
        self._boot()
        if self.spec.start_delay_s > 0:
            await self._reserve_port()
            self._later(self.spec.start_delay_s, self._listen)
        else:
            await self._listen()

    async def stop(self) -> None:
        """Close everything."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._close_port()
        for connection in list(self._connections):
            connection.close()
        if self.state is not None:
            self.state.driver.close()
        await self._connections.are_closed.wait()

    def set_fault(self, fault: Fault | FaultKind, **fields: Any) -> None:
        """Have a fault from now on; `fields` as in `Fault`."""
        given = replace(Fault(fault), **fields) if isinstance(fault, FaultKind) else fault
        self.faults.set(given)
        self._begin(given)

    def clear_faults(self) -> None:
        """Be healthy again; a backend that is down comes back."""
        self.faults.clear()
        if self.live.driver.frozen and not self.live.asleep:
            self.live.driver.thaw()
        if not self.is_listening or self.live.driver.dead:
            self._later(0.0, self._restart)

    def terminate(self) -> None:
        """What SIGTERM does: the outcome that a fault names, else an error for open requests."""
        named = [fault.kind for fault in self.faults.all() if fault.kind in _SIGTERM]
        self._terminate(named[0] if named else FaultKind.SIGTERM_ERROR)

    # -- the life of the engine ----------------------------------------------------------------

    def _boot(self) -> None:
        spec = self.spec
        engine_spec = spec.engine or preset(DEFAULT_PRESET)
        metrics = Metrics(spec.served_names[0], engine_spec, spec.max_model_len)
        driver = Driver(Engine(engine_spec), spec.time_scale, metrics)
        old = self.state
        self.state = ServerState(spec, engine_spec, driver, metrics, self.faults, self._die)
        if old is not None:
            old.driver.close()
            self.state.records, self.state.control = old.records, old.control
            self.state.requests_seen, self.state.disconnects = old.requests_seen, old.disconnects

    def _begin(self, fault: Fault) -> None:
        match fault.kind:
            case FaultKind.HANG:
                self.live.driver.freeze()
            case FaultKind.ENGINE_DEAD:
                self._die(fault)
            case FaultKind.CAPTURE_FAILURE:
                self._vanish()
            case FaultKind.SLOW_START:
                self._vanish()
                self._later(fault.delay_s, self._restart)
            case FaultKind.SIGTERM_HANG | FaultKind.SIGTERM_ERROR | FaultKind.SIGTERM_ABORT:
                self._terminate(fault.kind)
            case _:
                return

    def _die(self, fault: Fault = _DEAD) -> None:
        """The engine dies: errors for open requests, 503 for a moment, then the port is closed."""
        self.live.driver.kill()
        self.live.dying = True
        self._later(fault.delay_s, self._vanish_dead)
        if fault.restart_after_s is not None:
            self._later(fault.delay_s + fault.restart_after_s, self._restart)

    def _terminate(self, kind: FaultKind) -> None:
        self.live.shutting_down = True
        self._close_port()
        if kind is FaultKind.SIGTERM_ABORT:
            self.live.driver.abort_all()
        elif kind is FaultKind.SIGTERM_ERROR:
            self.live.driver.kill()
        else:
            self.live.driver.freeze()
            for connection in self._connections:
                connection.silent = True

    def _vanish(self) -> None:
        """The process is gone: no port, no connections."""
        self._close_port()
        self.live.driver.kill()
        for connection in list(self._connections):
            connection.reset()

    async def _vanish_dead(self) -> None:
        self._close_port()
        for connection in list(self._connections):
            connection.close()

    async def _restart(self) -> None:
        self._close_port()
        self._boot()
        await self._listen()

    # -- the port ------------------------------------------------------------------------------

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self._handle, self._connections, self.spec.keep_alive_s),
            self.spec.host,
            self._port,
            backlog=2048,
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def _reserve_port(self) -> None:
        """Know the port of a server that does not listen yet."""
        if self._port == 0:
            await self._listen()
            self._close_port()

    def _close_port(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def _later(self, delay_s: float, action: Any) -> None:
        task = asyncio.create_task(self._after(delay_s, action))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _after(self, delay_s: float, action: Any) -> None:
        await asyncio.sleep(delay_s)
        await action()

    # -- one request ---------------------------------------------------------------------------

    async def _handle(self, request: HttpRequest, exchange: Exchange) -> None:
        if request.path.startswith("/emulator/"):
            answer_control(self, request, exchange)
            return
        state = self.live
        record = Recorded(
            request.method, request.target, request.raw_headers, request.body[:_BODY_KEPT_BYTES]
        )
        state.records.append(record)
        while len(state.records) > self.spec.record_limit:
            state.records.popleft()
        state.requests_seen += 1
        call = Call(state, request, exchange, record)
        began = time.monotonic()
        try:
            await self._answer(call)
        except Refused as refused:
            call.refuse(refused)
        except CutError:
            return
        except asyncio.CancelledError:
            record.disconnected = True
            state.disconnects += 1
            raise
        finally:
            if request.path not in _UNCOUNTED:
                sizes = (len(request.body), 0)
                spent_s = time.monotonic() - began
                status = record.status or 500
                state.metrics.on_http(request.method, request.path, status, sizes, spent_s)

    async def _answer(self, call: Call) -> None:
        request = call.request
        route = self._find(call)
        if route is None:
            return
        if not self.spec.lets_in(request.path, request.headers.get("authorization")):
            raise Refused(401, {"error": "Unauthorized"})
        handler = route.handlers.get(request.method)
        if handler is None:
            raise Refused(
                405, {"detail": "Method Not Allowed"}, {"allow": ", ".join(route.handlers)}
            )
        call.inference = route.is_inference
        if await self._struck_before(call):
            return
        self.live.server_load += 1
        try:
            await handler(call)
        finally:
            self.live.server_load -= 1

    def _find(self, call: Call) -> Route | None:
        path = call.request.path
        route = self._routes.get(path)
        if route is None and path != "/" and path.endswith("/") and path[:-1] in self._routes:
            call.send(307, b"", [f"location: {self.url}{path[:-1]}"])
            return None
        if route is None and path.startswith("/v1/responses/"):
            return STORED_RESPONSE
        if route is None:
            raise not_found()
        return route

    async def _struck_before(self, call: Call) -> bool:
        """Faults in place of an answer; true if the request is over."""
        state, path = self.live, call.request.path
        if call.inference and state.shutting_down:
            raise Refused(500, SHUTTING_DOWN)
        if call.inference and state.dying:
            raise Refused(500, ENGINE_DEAD)
        crash = self.faults.strike(_CRASH, path, inference=call.inference)
        if crash is not None:
            self._die(crash)
            raise Refused(500, ENGINE_DEAD)
        fault = self.faults.strike(BEFORE_FAULTS, path, inference=call.inference)
        if fault is None:
            return False
        if fault.kind is FaultKind.RESET:
            call.exchange.connection.reset()
            return True
        if fault.kind is FaultKind.SILENCE:
            await asyncio.Event().wait()
        raise told_to_answer(int(fault.kind.value.removeprefix("status_")), fault.retry_after_s)
