"""Which fault the end of a connection or of a limit is, in words for people."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.errors import (
    BackendLost,
    ConnectionLost,
    LimitReached,
    Phase,
    ResponseCut,
    UpstreamFault,
)

# A reused connection that ends so soon after a request was most likely closed while it was idle;
# one that ends later may have died of the request, which must not be repeated blindly.
STALE_WINDOW_S = 1.0

_LIMIT_TEXTS: Final[Mapping[Phase, str]] = MappingProxyType(
    {
        Phase.SEND: "did not take more of the request",
        Phase.FIRST_BYTE: "did not begin its answer",
        Phase.BETWEEN: "sent no more of its answer",
        Phase.TOTAL: "did not finish its answer",
    }
)


def loss(
    authority: str,
    error: Exception | None,
    *,
    has_head: bool,
    is_sent: bool,
    is_reused: bool,
    has_bytes: bool,
    since_sent_s: float,
) -> UpstreamFault:
    """The connection ended before the answer was whole.

    `is_sent` tells whether the socket had taken the whole request, `has_bytes` whether a byte of
    answer had come.
    """
    how = "closed the connection" if error is None else f"broke the connection ({error})"
    if has_head:
        return ResponseCut(f"{authority} {how} in the middle of its answer")
    is_soon = not is_sent or since_sent_s <= STALE_WINDOW_S
    return ConnectionLost(
        f"{authority} {how} before its answer; check that the backend still runs",
        phase=Phase.FIRST_BYTE if is_sent else Phase.SEND,
        may_have_run=is_sent,
        stale=is_reused and not has_bytes and is_soon,
    )


def aborted(authority: str, *, has_head: bool, is_sent: bool) -> UpstreamFault:
    """We closed the connection ourselves before the answer was whole."""
    if has_head:
        return ResponseCut(f"the answer of {authority} was cut by us: its connection was closed")
    return ConnectionLost(
        f"the connection to {authority} was closed by us before its answer",
        phase=Phase.FIRST_BYTE if is_sent else Phase.SEND,
        may_have_run=is_sent,
        stale=False,
    )


def lost(authority: str, reason: str, *, has_head: bool, is_sent: bool) -> BackendLost:
    """We gave the exchange up, since its backend is hung or gone."""
    phase = Phase.BETWEEN if has_head else Phase.FIRST_BYTE
    return BackendLost(f"{authority} was given up: {reason}", phase=phase, may_have_run=is_sent)


def limit_reached(authority: str, phase: Phase, limit_s: float, *, is_sent: bool) -> LimitReached:
    """A phase of an exchange took too long."""
    return LimitReached(
        f"{authority} {_LIMIT_TEXTS[phase]} within {limit_s:g} s; check its load, or raise the"
        f" limit for this phase ({phase})",
        phase=phase,
        limit_s=limit_s,
        may_have_run=is_sent,
    )
