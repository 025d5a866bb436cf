"""One call: a request, its answer, and the faults that strike between them."""

import asyncio
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any, Self

from gateway.emulator import fields, jsontext
from gateway.emulator.faults import STREAM_FAULTS, Fault, FaultKind
from gateway.emulator.refusals import Refused, unknown_model
from gateway.emulator.state import Recorded, ServerState
from gateway.emulator.wire import Exchange, HttpRequest

JSON = "content-type: application/json"
EVENT_STREAM = "content-type: text/event-stream; charset=utf-8"
KEEP_ALIVE_COMMENT = b": keep-alive\n\n"
DONE = b"data: [DONE]\n\n"


class CutError(Exception):
    """A fault has ended the answer."""


class Call:
    """What a route gets."""

    __slots__ = ("_request_id", "exchange", "inference", "record", "request", "server")

    def __init__(
        self, server: ServerState, request: HttpRequest, exchange: Exchange, record: Recorded
    ) -> None:
        self.server = server
        self.request = request
        self.exchange = exchange
        self.record = record
        self.inference = False
        """Whether this route runs the model; faults without paths strike such calls only."""
        self._request_id = request.headers.get("x-request-id") or secrets.token_hex(16)

    def body(self) -> fields.Body:
        """The JSON object sent; its model is recorded."""
        body = fields.json_body(self.request.headers, self.request.body)
        self.record.model = body.get("model")
        return body

    def model(self, body: Mapping[str, Any]) -> str:
        """The name to answer with: the first served one, whatever alias was asked for."""
        served = self.server.served_names()
        asked = fields.string(dict(body), "model")
        if asked and asked not in served:
            raise unknown_model(asked, served)
        return served[0]

    def answer_id(self, prefix: str, body: Mapping[str, Any]) -> str:
        """The id of the answer: the caller's request id, the body's, or a random one."""
        own = self.request.headers.get("x-request-id") or body.get("request_id")
        answer_id = f"{prefix}-{own or secrets.token_hex(8)}"
        self.record.response_id = answer_id
        return answer_id

    def send_json(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        """A whole JSON answer."""
        extra = [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.send(status, jsontext.dumpb(body), [JSON, *extra])

    def send(self, status: int, body: bytes, headers: Iterable[str] = ()) -> None:
        """A whole answer, unless a fault cuts it."""
        self.record.status = status
        lines = [*headers, *self._id_header()]
        fault = self._due_fault(0, slack=1)
        if fault is None:
            self.exchange.send(status, body, lines)
        elif fault.kind in (FaultKind.CUT_CLEAN, FaultKind.MALFORMED_EVENT):
            self.exchange.send(status, body[: len(body) // 2], lines)
        else:
            half = body[: len(body) // 2]
            self.exchange.send(status, half, lines, shown_length=len(body))
            self._break(fault)

    def refuse(self, refused: Refused) -> None:
        """The answer of a refusal."""
        self.send_json(refused.status, refused.body, refused.headers)

    def open_stream(self) -> "EventStream":
        """Send the head of a stream; the engine has not seen the request yet, as in vLLM."""
        self.record.status = 200
        self.exchange.start(200, [EVENT_STREAM, *self._id_header()])
        return EventStream(self)

    def due_fault(self, sent_events: int) -> Fault | None:
        """The fault that strikes a stream now, its count reduced."""
        return self._due_fault(sent_events, slack=0)

    def _due_fault(self, sent: int, *, slack: int) -> Fault | None:
        faults = self.server.faults
        path = self.request.path
        found = faults.find(STREAM_FAULTS, path, inference=self.inference)
        if found is None or sent + slack < found.after_events:
            return None
        return faults.strike(STREAM_FAULTS, path, inference=self.inference)

    def _break(self, fault: Fault) -> None:
        if fault.kind is FaultKind.CUT_RST:
            self.exchange.connection.reset()
        elif fault.kind is FaultKind.CUT_FIN:
            self.exchange.connection.close()

    def _id_header(self) -> list[str]:
        if not self.server.spec.enable_request_id_headers:
            return []
        return [f"x-request-id: {self._request_id}"]


class EventStream:
    """A stream of server-sent events, each a chunk of its own."""

    __slots__ = ("_call", "_comments", "_last_at", "_muted", "_sent")

    def __init__(self, call: Call) -> None:
        self._call = call
        self._sent = 0
        self._muted = False
        self._last_at = time.monotonic()
        interval = call.server.spec.sse_keep_alive_interval_s
        self._comments = (
            None if interval is None else asyncio.create_task(self._comment_every(interval))
        )

    def data(self, payload: Any) -> None:
        """`data: {…}`."""
        self.raw(b"data: %b\n\n" % jsontext.dumpb(payload))

    def named(self, name: str, payload: Any) -> None:
        """`event: name` and `data: {…}`."""
        self.raw(b"event: %b\ndata: %b\n\n" % (name.encode(), jsontext.dumpb(payload)))

    def error(self, body: Mapping[str, Any]) -> None:
        """An error in the stream, which vLLM writes with blanks after colons and commas."""
        self._write(b"data: %b\n\n" % jsontext.dumps(body).encode())

    def raw(self, event: bytes) -> None:
        """One event, unless a fault strikes here. CutError when the answer is over."""
        fault = self._call.due_fault(self._sent) if not self._muted else None
        if fault is not None:
            self._strike(fault)
        self._sent += 1
        self._write(event)

    def done(self) -> None:
        """`data: [DONE]` and the end."""
        self._write(DONE)
        self.end()

    def end(self) -> None:
        """The end of the stream, for HTTP a clean one."""
        self.close()
        if not self._muted:
            self._call.exchange.end()

    def cut(self) -> None:
        """End the connection without the last chunk."""
        self.close()
        self._call.exchange.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the comments."""
        if self._comments is not None:
            self._comments.cancel()

    def _write(self, event: bytes) -> None:
        if not self._muted:
            self._last_at = time.monotonic()
            self._call.exchange.chunk(event)

    def _strike(self, fault: Fault) -> None:
        if fault.kind is FaultKind.MALFORMED_EVENT:
            self._write(b'data: {"id": "chatcmpl-, not JSON\n\n')
        elif fault.kind is FaultKind.STALL:
            self._muted = True
        else:
            self.close()
            if fault.kind is FaultKind.CUT_CLEAN:
                self._call.exchange.end()
            elif fault.kind is FaultKind.CUT_RST:
                self._call.exchange.connection.reset()
            else:
                self._call.exchange.connection.close()
            raise CutError

    async def _comment_every(self, interval_s: float) -> None:
        while True:
            await asyncio.sleep(self._last_at + interval_s - time.monotonic())
            if time.monotonic() - self._last_at >= interval_s:
                self._write(KEEP_ALIVE_COMMENT)
