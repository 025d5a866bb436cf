"""The objects of /v1/models, as OpenAI shapes them plus what engines add."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One name of the list: what clients need to size their prompts, and whether it can be used.

    `created_s` is in seconds since 1970. `max_model_len` is in tokens, the smallest of the
    model's backends, None when unknown. `status` is `available` or `unavailable`.
    """

    id: str
    created_s: int
    owned_by: str
    max_model_len: int | None
    parent: str | None
    status: str


def model_object(model: ListedModel) -> dict[str, Any]:
    """The JSON object of one model."""
    return {
        "id": model.id,
        "object": "model",
        "created": model.created_s,
        "owned_by": model.owned_by,
        "parent": model.parent,
        "max_model_len": model.max_model_len,
        "status": model.status,
    }


def list_object(models: Iterable[ListedModel]) -> dict[str, Any]:
    """The JSON object of the whole list."""
    return {"object": "list", "data": [model_object(m) for m in models]}
