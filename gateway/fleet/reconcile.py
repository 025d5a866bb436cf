"""What a backend says of itself against what the routing file says of it."""

from dataclasses import dataclass
from enum import StrEnum

from gateway.config.backend import BackendConfig
from gateway.fleet.health.evidence import ModelCard


class DriftKind(StrEnum):
    """How a backend differs from its entry in the routing file."""

    NAME_MISSING = "name_missing"
    OTHER_ROOT = "other_root"
    SHORTER_CONTEXT = "shorter_context"
    REFUSED_NAME = "refused_name"


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference: its kind, the served name it is about, and a text for people."""

    kind: DriftKind
    served_name: str
    message: str


def reconcile(
    backend: BackendConfig, served_names: frozenset[str], cards: tuple[ModelCard, ...]
) -> tuple[Drift, ...]:
    """Every difference between the backend's /v1/models and the file, in a stable order."""
    by_id = {card.id: card for card in cards}
    found: list[Drift] = []
    for name in sorted(served_names):
        card = by_id.get(name)
        if card is None:
            found.append(_missing(name, cards))
            continue
        is_base = name == backend.served_name
        if is_base and backend.root and card.root and not _same_path(card.root, backend.root):
            found.append(
                Drift(
                    DriftKind.OTHER_ROOT,
                    name,
                    f"it runs '{card.root}', the routing file expects '{backend.root}'",
                )
            )
        listed, expected = card.max_model_len, backend.max_model_len
        if listed and expected and listed < expected:
            found.append(
                Drift(
                    DriftKind.SHORTER_CONTEXT,
                    name,
                    f"its context is {listed} tokens, the routing file says {expected}",
                )
            )
    return tuple(found)


def _missing(name: str, cards: tuple[ModelCard, ...]) -> Drift:
    listed = ", ".join(f"'{card.id}'" for card in cards[:5]) or "nothing"
    return Drift(
        DriftKind.NAME_MISSING,
        name,
        f"it does not list '{name}' in /v1/models; it lists {listed}. "
        "Mend served_name or url in the routing file, or start the right server there",
    )


def _same_path(one: str, other: str) -> bool:
    return one.rstrip("/") == other.rstrip("/")
