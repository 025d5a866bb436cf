"""Which backend gets the request next: the model's own first, then its fallback models'."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from gateway.errors import GatewayError
from gateway.fleet.names import Model
from gateway.fleet.registry import Registry
from gateway.fleet.view import BackendFacts, ModelView
from gateway.flow.call import Call
from gateway.flow.course import Course
from gateway.placement.choose import Placement, choose
from gateway.placement.eligible import Need, Refused
from gateway.protocol.demand import max_output_tokens, prompt_size

# No tokenizer makes fewer tokens than this of ordinary text; only what is surely too long for a
# backend is kept from it.
_CHARS_PER_TOKEN_AT_MOST: Final = 10
_ANY: Final = Need()


class Admitted(NamedTuple):
    """A backend for the request, and the model that it answers for.

    `is_full` says that all of the model's backends already have as many as they serve well.
    """

    model: Model
    backend: BackendFacts
    is_full: bool = False


class NothingLeft(GatewayError):  # noqa: N818
    """No backend may take the request; `refused` says why for each."""

    def __init__(self, refused: Sequence[Refused], backends_total: int) -> None:
        super().__init__("no backend is left")
        self.refused = tuple(refused)
        self.backends_total = backends_total


def admit(
    call: Call, fleet: Registry, course: Course, now: float, draw: Callable[[], float]
) -> Admitted:
    """The placement of the request at `now`; raises `NothingLeft`."""
    assert call.model is not None
    if course.again is not None:
        return Admitted(*course.again)
    refused: list[Refused] = []
    backends_total = 0
    for model in _models(call, fleet, course):
        view = fleet.view(model, now)
        placement = _place(call, view, course, draw)
        if placement.backend is not None:
            return Admitted(model, placement.backend, placement.is_full)
        refused += placement.refused
        backends_total += len(view.backends)
    raise NothingLeft(refused, backends_total)


def could_take(
    call: Call, model: Model, fleet: Registry, course: Course, now: float, least_tokens: int = 0
) -> bool:
    """Whether an untried backend of `model` could take the request, `least_tokens` long or more."""
    view = fleet.view(model, now)
    need = Need(least_tokens) if least_tokens else _need(call, view)
    return choose(view, need, course.tried, _first).backend is not None


def _models(call: Call, fleet: Registry, course: Course) -> Sequence[Model]:
    assert call.model is not None
    if course.resumption is not None:
        # Another model would say something else.
        return (course.resumption.model,)
    return (call.model, *fleet.fallbacks(call.model))


def _place(call: Call, view: ModelView, course: Course, draw: Callable[[], float]) -> Placement:
    tried, failed_in = course.tried, course.failed_in
    if course.least_context_tokens:
        return choose(view, Need(course.least_context_tokens), tried, draw, failed_in)
    need = _need(call, view)
    placement = choose(view, need, tried, draw, failed_in)
    if placement.backend is None and need is not _ANY:
        # If only length speaks against them, the engine's own refusal tells the client best.
        placement = choose(view, _ANY, tried, draw, failed_in)
    return placement


def _first() -> float:
    return 0.0


def _need(call: Call, view: ModelView) -> Need:
    """What the request needs at least; only measured where backends differ in context."""
    if call.payload is None or not _differ_in_context(view):
        return _ANY
    size = prompt_size(call.payload)
    prompt_tokens = size.token_ids + size.chars // _CHARS_PER_TOKEN_AT_MOST
    return Need(max(prompt_tokens + 1, max_output_tokens(call.payload) or 0))


def _differ_in_context(view: ModelView) -> bool:
    backends = view.backends
    for backend in backends:
        if backend.facts.max_model_len != backends[0].facts.max_model_len:
            return True
    return False
