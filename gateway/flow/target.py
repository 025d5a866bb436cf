"""From a placement to an attempt: pool, path, headers, key and time limits."""

from collections.abc import Mapping
from urllib.parse import quote

from gateway.config.timeouts import effective_timeouts
from gateway.flow.admit import Admitted
from gateway.flow.attempt import Target
from gateway.flow.call import Call
from gateway.flow.take import Taken
from gateway.protocol.demand import choices_asked
from gateway.protocol.headers import to_backend
from gateway.upstream.pool import BackendPool, PhaseLimits


class Targets:
    """The pools and keys of all backends."""

    __slots__ = ("_keys", "_pools")

    def __init__(self, pools: Mapping[str, BackendPool], keys: Mapping[str, bytes]) -> None:
        self._pools = pools
        self._keys = keys

    def __repr__(self) -> str:
        return f"<Targets {sorted(self._pools)}>"

    def target(self, call: Call, admitted: Admitted, taken: Taken, now: float) -> Target:
        """Where and how the next attempt goes."""
        backend, model = admitted.backend, admitted.model
        is_own = model is call.model
        headers = to_backend(call.headers, _attempt_id(call), self._keys.get(backend.name))
        headers.append((b"content-type", taken.payload.content_type))
        return Target(
            backend=backend.name,
            model_name=model.name,
            served_name=backend.served_name,
            shown_name=call.asked if is_own and call.asked is not None else model.name,
            pool=self._pools[backend.name],
            path=_path(call),
            headers=headers,
            limits=_limits(call, admitted, is_stream=taken.facts.is_stream, now=now),
            protocol=call.endpoint.protocol,
            choices=choices_asked(taken.facts.payload),
        )


def _attempt_id(call: Call) -> bytes:
    """A fresh id for each attempt: engines crash or mix answers when two requests share one."""
    own = call.upstream_id if call.attempts < 2 else f"{call.upstream_id}-{call.attempts}"
    return own.encode("ascii")


def _path(call: Call) -> bytes:
    query: bytes = call.scope.get("query_string", b"")
    if not query:
        return call.endpoint.target
    return call.endpoint.target + b"?" + quote(query, safe=_QUERY_CHARS).encode("ascii")


# What RFC 3986 allows in a query, and the escapes that are there already.
_QUERY_CHARS = "!$&'()*+,;=:@/?%-._~"


def _limits(call: Call, admitted: Admitted, *, is_stream: bool, now: float) -> PhaseLimits:
    given = admitted.model.config.timeouts
    timeouts = effective_timeouts(given, admitted.backend.tier, is_stream=is_stream)
    spent_s = now - call.started_s
    return PhaseLimits(
        connect_s=timeouts.connect_s,
        first_byte_s=timeouts.first_byte_s,
        between_s=timeouts.between_events_s,
        total_s=max(0.001, timeouts.total_s - spent_s),
    )
