"""What is said when a request gets no place: none may take it, or all are full."""

from typing import Final

from gateway.errors import GatewayError, Outcome, Refusal
from gateway.fleet.names import Model
from gateway.placement.eligible import Refused
from gateway.placement.lane import Lane

_RETRY_AFTER_S: Final = 5.0
_LONGEST_RETRY_AFTER_S: Final = 60.0


class NothingLeft(GatewayError):  # noqa: N818
    """No backend may take the request; `refused` says why for each."""

    def __init__(self, refused: tuple[Refused, ...], backends_total: int) -> None:
        super().__init__("no backend is left")
        self.refused = refused
        self.backends_total = backends_total


def overloaded(model: Model, told: str, expected_s: float | None) -> Refusal:
    """The refusal of a request that would wait too long; it says when to come again."""
    retry_s = _RETRY_AFTER_S if expected_s is None else expected_s
    retry_s = min(max(retry_s, 1.0), _LONGEST_RETRY_AFTER_S)
    return Refusal(
        Outcome.OVERLOADED,
        f"All backends of '{model.name}' are busy and {told}. Try again in {retry_s:.0f} s.",
        retry_after_s=retry_s,
    )


def refuse_in_vain(model: Model, lane: Lane, longest_s: float, elsewhere: int = 0) -> None:
    """Refuses at once what would wait in vain; `elsewhere` wait for it at other gateways."""
    if lane.is_over_with(elsewhere):
        told = f"{len(lane) - 1 + elsewhere} requests wait already"
        raise overloaded(model, told, lane.wait_s(len(lane)))
    expected_s = lane.wait_s(len(lane))
    if expected_s is not None and expected_s > longest_s:
        told = f"{len(lane) - 1} requests wait, which takes about {expected_s:.0f} s"
        raise overloaded(model, told, expected_s)
