"""What a backend lists in /v1/models against what the routing file says of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.fleet.health.evidence import ModelCard
from gateway.fleet.shown import shown
from gateway.words import Words


class DriftKind(StrEnum):
    """How a backend differs from its entry in the routing file."""

    NAME_MISSING = "name_missing"
    OTHER_ROOT = "other_root"
    SHORTER_CONTEXT = "shorter_context"
    REFUSED_NAME = "refused_name"


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference: its kind, the served name it is about, what it is and what to do."""

    kind: DriftKind
    served_name: str
    told: Words
    remedy: Words

    @property
    def message(self) -> str:
        """All of it in English."""
        return f"{self.told.en}. {self.remedy.en}"


_RIGHT_SERVER: Final = Words(
    "Mend served_name or url in the routing file, or start the right server there.",
    "请改正路由文件中的 served_name 或 url，或在该地址启动正确的服务。",
)
_RIGHT_MODEL: Final = Words(
    "Another model runs there: mend url or root in the routing file, or start the right one.",
    "那里运行的是另一个模型：请改正路由文件中的 url 或 root，或启动正确的模型。",
)
_RIGHT_LENGTH: Final = Words(
    "Write the length that it has, or start it with a larger --max-model-len.",
    "请填写它的实际长度，或用更大的 --max-model-len 启动。",
)


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
            found.append(_other_root(name, card.root, backend.root))
        listed, expected = card.max_model_len, backend.max_model_len
        if listed and expected and listed < expected:
            found.append(_shorter(name, listed, expected))
    return tuple(found)


def refused(name: str) -> Drift:
    """The backend answered a request for `name` as one that it does not know."""
    told = Words(
        f"it answered that the model '{name}' does not exist", f"它回答说模型 '{name}' 不存在"
    )
    return Drift(DriftKind.REFUSED_NAME, name, told, _RIGHT_SERVER)


def _missing(name: str, cards: tuple[ModelCard, ...]) -> Drift:
    listed = ", ".join(f"'{shown(card.id)}'" for card in cards[:5])
    more = ", ..." if len(cards) > 5 else ""
    told = Words(
        f"it does not list '{name}' in /v1/models; it lists {listed or 'nothing'}{more}",
        f"/v1/models 中没有 '{name}'；列出的是 {listed or '空列表'}{more}",
    )
    return Drift(DriftKind.NAME_MISSING, name, told, _RIGHT_SERVER)


def _other_root(name: str, root: str, expected: str) -> Drift:
    told = Words(
        f"it runs '{shown(root)}', the routing file expects '{expected}'",
        f"它加载的是 '{shown(root)}'，路由文件要求的是 '{expected}'",
    )
    return Drift(DriftKind.OTHER_ROOT, name, told, _RIGHT_MODEL)


def _shorter(name: str, listed: int, expected: int) -> Drift:
    told = Words(
        f"its context is {listed} tokens, the routing file says {expected}",
        f"它的上下文为 {listed} 个 token，路由文件写的是 {expected}",
    )
    return Drift(DriftKind.SHORTER_CONTEXT, name, told, _RIGHT_LENGTH)


def _same_path(one: str, other: str) -> bool:
    return one.rstrip("/") == other.rstrip("/")
