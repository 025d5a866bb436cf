"""Who gets a place that has come free: the own line, or the gateway that waits longest."""

from collections.abc import Iterable, Mapping
from typing import Final

# Nearer to each other than this, ages are the same: what others told is a little old.
_MARGIN_S: Final = 1.0


def heir(
    models: Iterable[str],
    own_oldest_s: float | None,
    others: Mapping[str, Mapping[str, float]],
) -> str | None:
    """The gateway that is told of a free place, None if this one keeps it for its own line.

    `models` are those that the backend serves. `own_oldest_s` is how long the first of this
    gateway's own line for them has waited, None if nobody does; `others` the same by gateway and
    model.
    """
    wanted = frozenset(models)
    name, longest_s = None, -1.0
    for gateway, lines in others.items():
        for model, waited_s in lines.items():
            if model in wanted and waited_s > longest_s:
                name, longest_s = gateway, waited_s
    if own_oldest_s is not None and longest_s < own_oldest_s + _MARGIN_S:
        return None
    return name
