"""The front door: inference paths go straight to the flow, everything else to the site."""

from collections.abc import Callable
from typing import Any

from gateway.api.cors import Cors
from gateway.config.schema import EndpointSwitches
from gateway.errors import Outcome, Refusal
from gateway.flow.call import Message, Receive, Scope, Send
from gateway.flow.handle import Flow
from gateway.protocol.chunks import Protocol
from gateway.protocol.endpoints import BY_PATH, ENDPOINTS, Endpoint, tidy_path
from gateway.protocol.envelope import ErrorView, error_body

Site = Callable[[Scope, Receive, Send], Any]


class FrontDoor:
    """The ASGI application.

    There are no framework objects on the way of an inference request: its path is looked up in a
    table, and the flow gets the raw scope.
    """

    __slots__ = ("_accepts", "_cors", "_flow", "_off", "_site", "_switches")

    def __init__(
        self, flow: Flow, site: Site, cors: Cors | None, accepts: Callable[[], bool]
    ) -> None:
        self._flow = flow
        self._site = site
        self._cors = cors
        self._accepts = accepts
        self._switches: EndpointSwitches | None = None
        self._off: frozenset[str] = frozenset()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return
        if self._cors is not None:
            if self._cors.is_preflight(scope):
                await self._cors.answer_preflight(scope, send)
                return
            send = self._cors.wrap(scope, send)
        path: str = scope["path"]
        endpoint = BY_PATH.get(path) or BY_PATH.get(tidy_path(path))
        if endpoint is None:
            await self._to_site(scope, receive, send)
            return
        refusal = self._refusal(endpoint, scope["method"])
        if refusal is None:
            await self._flow.handle(endpoint, scope, receive, send)
        elif refusal.outcome is Outcome.METHOD_NOT_ALLOWED and scope["method"] == "OPTIONS":
            await _no_content(send)
        else:
            await _refuse(send, endpoint.protocol, refusal)

    async def _to_site(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].startswith("/v1/models/"):
            # An id may have doubled or trailing slashes of its own.
            scope["path"] = tidy_path(scope["path"])
        elif scope["path"] == "/v1/models/":
            scope["path"] = "/v1/models"
        await self._site(scope, receive, self._with_id(scope, send))

    def _with_id(self, scope: Scope, send: Send) -> Send:
        request_id, _ = self._flow.ids.of(scope["headers"])

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
                message = {**message, "headers": headers}
            await send(message)

        return named

    def _refusal(self, endpoint: Endpoint, method: str) -> Refusal | None:
        switches = self._flow.fleet.config.endpoints
        if switches is not self._switches:
            # Another routing file came into force.
            self._switches = switches
            self._off = frozenset(e.name for e in ENDPOINTS if not switches.is_on(e.name))
        if endpoint.name in self._off:
            return Refusal(
                Outcome.ROUTE_DISABLED,
                f"{endpoint.paths[0]} is not enabled here. The routing file's `endpoints` can "
                "switch it on.",
            )
        if method != "POST":
            told = f"{endpoint.paths[0]} takes POST, not {method}."
            return Refusal(Outcome.METHOD_NOT_ALLOWED, told)
        if not self._accepts():
            return Refusal(
                Outcome.DRAINING,
                "This gateway is shutting down and takes no new requests. Try again; another one "
                "will answer.",
                retry_after_s=1.0,
            )
        return None


async def _refuse(send: Send, protocol: Protocol, refusal: Refusal) -> None:
    view = ErrorView.of(refusal)
    body = error_body(view, protocol)
    headers = [*view.headers, (b"content-length", b"%d" % len(body))]
    if refusal.outcome is Outcome.METHOD_NOT_ALLOWED:
        headers.append((b"allow", b"POST, OPTIONS"))
    if refusal.outcome is Outcome.DRAINING:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": view.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _no_content(send: Send) -> None:
    headers = [(b"allow", b"POST, OPTIONS")]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
