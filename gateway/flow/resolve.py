"""Which model the request means, and whether it may be used this way."""

from collections.abc import Callable

from gateway.errors import Outcome, Refusal
from gateway.fleet.registry import Registry
from gateway.flow.call import Call
from gateway.protocol.demand import max_output_tokens
from gateway.protocol.request import RequestFacts

Permits = Callable[[str], bool]


def resolve(call: Call, fleet: Registry, name: str | None, is_permitted: Permits) -> None:
    """Sets the model; raises `Refusal` if the name is unknown, missing, or not for this endpoint.

    Without a name the default model counts, if there is one.
    """
    if name is None:
        call.model = fleet.names.require_default()
        call.asked = call.model.name
    else:
        call.asked = name
        call.model = fleet.names.resolve(name, is_permitted)
    if not call.model.config.allows(call.endpoint.name):
        raise Refusal(
            Outcome.MODEL_NOT_PERMITTED,
            f"The model '{call.asked}' is not offered at {call.endpoint.paths[0]}. The routing "
            "file lists its endpoints.",
            param="model",
        )


def check_limits(call: Call, facts: RequestFacts, body_bytes: int) -> None:
    """Raises `Refusal` if the request exceeds a limit that the routing file sets for its model."""
    if call.model is None:
        return
    limits = call.model.config.limits
    if limits.max_body_bytes is not None and body_bytes > limits.max_body_bytes:
        raise Refusal(
            Outcome.BODY_TOO_LARGE,
            f"The request body is too large for '{call.asked}': the limit is "
            f"{limits.max_body_bytes} bytes, it has {body_bytes} bytes.",
        )
    if limits.max_output_tokens is None:
        return
    wanted = max_output_tokens(facts.payload)
    if wanted is not None and wanted > limits.max_output_tokens:
        raise Refusal(
            Outcome.OUTPUT_TOO_LONG,
            f"The request asks for up to {wanted} output tokens; '{call.asked}' gives at most "
            f"{limits.max_output_tokens} here. Ask for fewer.",
            param="max_tokens",
        )
