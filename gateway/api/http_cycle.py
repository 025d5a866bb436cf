"""One answer on one connection: ASGI messages in, HTTP bytes out.

It replaces uvicorn's own cycle for two reasons. A head goes out together with the first piece of
its body, in one write, which is what the ASGI specification asks for and halves the system calls of
a short answer. And clients that speak HTTP/1.0, which has no chunks (RFC 9112 §7), get a body of
unknown length that ends with the connection.
"""

from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

_BODILESS: Final = frozenset({204, 304})


class GatewayCycle(RequestResponseCycle):
    """A request and its answer; it takes over from a cycle that uvicorn has just made."""

    _head: list[bytes] | None
    _left_bytes: int | None

    @classmethod
    def take_over(cls, cycle: RequestResponseCycle) -> None:
        """Makes `cycle` one of ours; it must not have begun to answer."""
        cycle.__class__ = cls
        assert isinstance(cycle, cls)
        cycle._head = None
        cycle._left_bytes = None

    async def send(self, message: Any) -> None:
        """Takes a message of the application; waits while the client reads too slowly."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if not self.response_started:
            self._begin(message)
        elif self.response_complete:
            raise RuntimeError(f"{message['type']} was sent after the answer was complete")
        else:
            self._write(message.get("body", b""), message.get("more_body", False))

    def _begin(self, message: Any) -> None:
        if message["type"] != "http.response.start":
            raise RuntimeError(f"{message['type']} was sent before http.response.start")
        self.response_started = True
        self.waiting_for_100_continue = False
        status: int = message["status"]
        head = [STATUS_LINE[status]]
        headers = [*self.default_headers, *message["headers"]]
        has_length = has_close = False
        for name, value in headers:
            head += (name, b": ", value, b"\r\n")
            if name == b"content-length":
                has_length = True
                self._left_bytes = int(value)
            elif name == b"connection" and value == b"close":
                has_close = True
                self.keep_alive = False
        self.chunked_encoding = False
        if not has_length and self.scope["method"] != "HEAD" and status not in _BODILESS:
            self.chunked_encoding = self.scope["http_version"] != "1.0"
            if self.chunked_encoding:
                head.append(b"transfer-encoding: chunked\r\n")
            else:
                self.keep_alive = False
        if not self.keep_alive and not has_close:
            head.append(b"connection: close\r\n")
        head.append(b"\r\n")
        joined = b"".join(head)
        # Exactly the line ends written here, so no value brought one of its own.
        lines = len(head) - 3 * len(headers)
        if joined.count(b"\n") != lines:
            raise RuntimeError("a header of the answer holds a line end")
        self._head = [joined]

    def _write(self, body: bytes, is_more: bool) -> None:
        out, self._head = self._head or [], None
        if self.scope["method"] == "HEAD":
            self._left_bytes = None
        elif self.chunked_encoding:
            if body:
                out += (b"%x\r\n" % len(body), body, b"\r\n")
            if not is_more:
                out.append(b"0\r\n\r\n")
        elif body:
            self._count(len(body))
            out.append(body)
        if out:
            self.transport.writelines(out)
        if is_more:
            return
        if self._left_bytes:
            raise RuntimeError("the answer is shorter than its content-length")
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()

    def _count(self, size_bytes: int) -> None:
        if self._left_bytes is None:
            return
        self._left_bytes -= size_bytes
        if self._left_bytes < 0:
            raise RuntimeError("the answer is longer than its content-length")
