"""From a placement to an attempt: pool, path, headers, key and time limits."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from gateway.config.schema import Timeouts
from gateway.config.timeouts import effective_timeouts
from gateway.config.vocabulary import Resume, Tier
from gateway.fleet.live import LiveBackend
from gateway.flow.attempt import Target
from gateway.flow.call import Call
from gateway.flow.course import Course
from gateway.flow.slot import Slot
from gateway.flow.stream import Shape
from gateway.flow.take import Taken
from gateway.protocol.demand import choices_asked
from gateway.protocol.headers import to_backend
from gateway.protocol.rewrite import ModelRewriter
from gateway.protocol.strip import IdStripper, asking_for_ids
from gateway.upstream.pool import BackendPool, PhaseLimits


class Targets:
    """The pools and keys of all backends, those included that leave but still have requests."""

    __slots__ = ("_keys", "_limits", "_pools")

    def __init__(
        self, pools: Mapping[LiveBackend, BackendPool], keys: Mapping[LiveBackend, bytes]
    ) -> None:
        self._pools = pools
        self._keys = keys
        self._limits: dict[tuple[str, Tier, bool], tuple[Timeouts, PhaseLimits]] = {}

    def __repr__(self) -> str:
        return f"<Targets {len(self._pools)} pools>"

    def target(self, call: Call, slot: Slot, taken: Taken, course: Course, now: float) -> Target:
        """Where and how the next attempt goes."""
        backend, model = slot.backend, slot.model
        is_own = call.model is not None and model.name == call.model.name
        shown_name = call.asked if is_own and call.asked is not None else model.name
        headers = to_backend(call.headers, _attempt_id(call), self._keys.get(slot.live))
        headers.append((b"content-type", taken.payload.content_type))
        body = taken.payload.body_for(backend.served_name)
        shape: Shape = ModelRewriter(shown_name)
        is_exact = course.transcript is not None and model.config.resume is Resume.EXACT
        if is_exact and isinstance(body, bytes) and not call.asks_for_ids:
            body, shape = asking_for_ids(body), IdStripper(ModelRewriter(shown_name))
        return Target(
            backend=backend.name,
            model_name=model.name,
            served_name=backend.served_name,
            shown_name=shown_name,
            pool=self._pools[slot.live],
            path=_path(call),
            headers=headers,
            body=body,
            shape=shape,
            transcript=course.transcript,
            limits=self._limits_of(call, slot, is_stream=taken.facts.is_stream, now=now),
            protocol=call.endpoint.protocol,
            choices=choices_asked(taken.facts.payload),
        )

    def _limits_of(self, call: Call, slot: Slot, *, is_stream: bool, now: float) -> PhaseLimits:
        """The limits of the model and tier; one that waited, or is not the first, has less time."""
        model, tier = slot.model, slot.backend.tier
        key, given = (model.name, tier, is_stream), model.config.timeouts
        known = self._limits.get(key)
        if known is None or known[0] is not given:
            # After a reload requests with old and new limits may be there side by side.
            if len(self._limits) >= _MOST_LIMITS:
                # Models that are gone would stay for ever.
                self._limits.clear()
            known = self._limits[key] = given, _limits(given, tier, is_stream=is_stream)
        limits = known[1]
        if call.attempts < 2 and now - call.started_s < _UNCOUNTED_S:
            return limits
        return replace(limits, total_s=max(0.001, call.total_left_s(now)))


# So little of a request's time is not taken off: each subtraction makes new limits.
_UNCOUNTED_S: Final = 1.0


_MOST_LIMITS: Final = 4096


def _limits(given: Timeouts, tier: Tier, *, is_stream: bool) -> PhaseLimits:
    timeouts = effective_timeouts(given, tier, is_stream=is_stream)
    return PhaseLimits(
        connect_s=timeouts.connect_s,
        first_byte_s=timeouts.first_byte_s,
        between_s=timeouts.between_events_s,
        total_s=timeouts.total_s,
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
