"""What a server says of itself, when it is asked, against what the routing file says of it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.config.timeouts import EAGER_TOKENS_PER_S, decode_speed
from gateway.config.vocabulary import Chip, Tier
from gateway.fleet.account import Account, EngineFacts
from gateway.fleet.reconcile import Drift, DriftKind, reconcile
from gateway.words import Words


class Difference(StrEnum):
    """The stable name of a kind of difference."""

    NOT_ASKED = "not_asked"
    """It can't be asked, or not all of it: unreachable, a refused key, no vLLM server."""
    KEY_MISSING = "key_missing"
    """Its key is not to be had where it was asked from."""
    LIST_UNREADABLE = "list_unreadable"
    NAME_MISSING = "name_missing"
    OTHER_ROOT = "other_root"
    SHORTER_CONTEXT = "shorter_context"
    EAGER_INSTEAD_OF_GRAPH = "eager_instead_of_graph"
    PROBABLY_EAGER = "probably_eager"
    GRAPH_INSTEAD_OF_EAGER = "graph_instead_of_eager"
    OTHER_SIZES = "other_sizes"
    OTHER_MAX_NUM_SEQS = "other_max_num_seqs"
    OTHER_TENSOR_PARALLEL = "other_tensor_parallel"


class Weight(StrEnum):
    """How bad a difference is: requests fail, they are slow or some fail, or it is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Found:
    """One difference of one backend, in words, with what to do."""

    backend: str
    kind: Difference
    weight: Weight
    told: Words
    remedy: Words


_FROM_LIST: Final[Mapping[DriftKind, tuple[Difference, Weight]]] = MappingProxyType(
    {
        DriftKind.NAME_MISSING: (Difference.NAME_MISSING, Weight.ERROR),
        DriftKind.OTHER_ROOT: (Difference.OTHER_ROOT, Weight.ERROR),
        DriftKind.SHORTER_CONTEXT: (Difference.SHORTER_CONTEXT, Weight.WARNING),
    }
)


def differences(
    backend: BackendConfig, served_names: frozenset[str], account: Account
) -> tuple[Found, ...]:
    """Every difference, the worst first; `served_names` are those that models ask it for."""
    found = [*_of_asking(backend, account)]
    if account.cards is not None:
        drifts = reconcile(backend, served_names, account.cards)
        found += [_of_list(backend, drift, account) for drift in drifts]
    if account.engine is not None:
        found += _of_engine(backend, account.engine)
    found += _of_speed(backend, account)
    order = list(Weight)
    return tuple(sorted(found, key=lambda one: order.index(one.weight)))


def _of_asking(backend: BackendConfig, account: Account) -> Iterator[Found]:
    if account.failure is not None:
        yield Found(
            backend.name,
            Difference.NOT_ASKED,
            Weight.ERROR,
            account.failure.told,
            Words(
                "Check that the server runs and that url, its port and its key are right.",
                "请确认服务正在运行，且 url、端口和密钥正确。",
            ),
        )
    elif account.cards is None:
        yield Found(
            backend.name,
            Difference.LIST_UNREADABLE,
            Weight.ERROR,
            Words("its /v1/models can't be read", "/v1/models 无法读取"),
            Words("Check that url leads to a vLLM server.", "请确认 url 指向 vLLM 服务。"),
        )


def _of_list(backend: BackendConfig, drift: Drift, account: Account) -> Found:
    kind, weight = _FROM_LIST[drift.kind]
    cards = account.cards or ()
    card = next((one for one in cards if one.id == drift.served_name), None)
    listed = "、".join(f"'{one.id}'" for one in cards[:5]) or "空"
    root = None if card is None else card.root
    length = None if card is None else card.max_model_len
    zh = {
        Difference.NAME_MISSING: f"/v1/models 中没有 '{drift.served_name}'；列出的是 {listed}",
        Difference.OTHER_ROOT: f"它加载的是 '{root}'，路由文件期望 '{backend.root}'",
        Difference.SHORTER_CONTEXT: (
            f"它的上下文为 {length} token，路由文件写的是 {backend.max_model_len}"
        ),
    }
    return Found(backend.name, kind, weight, Words(drift.message, zh[kind]), _LIST_REMEDY[kind])


_LIST_REMEDY: Final[Mapping[Difference, Words]] = MappingProxyType(
    {
        Difference.NAME_MISSING: Words(
            "Mend served_name or url in the routing file, or start the right server there.",
            "请修正路由文件中的 served_name 或 url，或在该处启动正确的服务。",
        ),
        Difference.OTHER_ROOT: Words(
            "Another model runs there: mend url or root, or start the right one.",
            "那里运行的是另一个模型：请修正 url 或 root，或启动正确的模型。",
        ),
        Difference.SHORTER_CONTEXT: Words(
            "Write the length that it has, or start it with a larger --max-model-len.",
            "请填写它实际的长度，或用更大的 --max-model-len 启动。",
        ),
    }
)


def _of_engine(backend: BackendConfig, engine: EngineFacts) -> Iterator[Found]:
    if engine.is_eager is not None:
        yield from _of_tier(backend, engine)
    sizes = engine.capture_sizes
    is_graph = backend.tier is Tier.GRAPH and not engine.is_eager
    if is_graph and sizes and backend.capture_sizes and sizes != backend.capture_sizes:
        yield Found(
            backend.name,
            Difference.OTHER_SIZES,
            Weight.WARNING,
            Words(
                f"it captured the sizes {_listed(sizes)}, the routing file says "
                f"{_listed(backend.capture_sizes)}",
                f"它捕获的尺寸是 {_listed(sizes)}，路由文件写的是 {_listed(backend.capture_sizes)}",
            ),
            Words(
                f"Write capture_sizes: {_listed(sizes)}.", f"请写 capture_sizes: {_listed(sizes)}。"
            ),
        )
    for kind, weight, field, has, says in (
        (
            Difference.OTHER_MAX_NUM_SEQS,
            Weight.WARNING,
            "max_num_seqs",
            engine.max_num_seqs,
            backend.max_num_seqs,
        ),
        (
            Difference.OTHER_TENSOR_PARALLEL,
            Weight.NOTE,
            "tensor_parallel",
            engine.tensor_parallel,
            backend.tensor_parallel,
        ),
    ):
        if has is not None and says is not None and has != says:
            yield Found(
                backend.name,
                kind,
                weight,
                Words(
                    f"its {field} is {has}, the routing file says {says}",
                    f"它的 {field} 为 {has}，路由文件写的是 {says}",
                ),
                Words(f"Write {field}: {has}.", f"请写 {field}: {has}。"),
            )


def _of_tier(backend: BackendConfig, engine: EngineFacts) -> Iterator[Found]:
    if engine.is_eager and backend.tier is Tier.GRAPH:
        yield Found(
            backend.name,
            Difference.EAGER_INSTEAD_OF_GRAPH,
            Weight.ERROR,
            Words(
                "it runs eager, the routing file promises graph",
                "它以 eager 方式运行，路由文件承诺的是 graph",
            ),
            _GRAPH_REMEDY,
        )
    elif not engine.is_eager and backend.tier is Tier.EAGER:
        yield Found(
            backend.name,
            Difference.GRAPH_INSTEAD_OF_EAGER,
            Weight.NOTE,
            Words(
                "it uses graphs, the routing file says eager",
                "它使用图模式，路由文件写的是 eager",
            ),
            Words(
                "Write tier: graph and its capture_sizes; it will get more.",
                "请写 tier: graph 及其 capture_sizes；它会得到更多请求。",
            ),
        )


_GRAPH_REMEDY: Final = Words(
    "Look in its start-up log for --enforce-eager, a failed capture or `Compilation disabled`; "
    "or write tier: eager.",
    "请在启动日志中查找 --enforce-eager、捕获失败或 `Compilation disabled`；或写 tier: eager。",
)


def _of_speed(backend: BackendConfig, account: Account) -> Iterator[Found]:
    """Speed is a hint only, and only where both speeds are known and far enough apart."""
    rate, told = account.decode_tokens_per_s, account.engine
    is_known = told is not None and told.is_eager is not None
    if rate is None or is_known or backend.tier is not Tier.GRAPH:
        return
    promised = decode_speed(backend)
    if backend.chip is not Chip.A310P or promised < 1.3 * EAGER_TOKENS_PER_S:
        return
    if rate < math.sqrt(promised * EAGER_TOKENS_PER_S):
        yield Found(
            backend.name,
            Difference.PROBABLY_EAGER,
            Weight.WARNING,
            Words(
                f"it makes {rate:.1f} tokens a second alone, where graphs give about "
                f"{promised:.0f}: probably it runs eager",
                f"单个请求每秒只有 {rate:.1f} token，图模式约为 {promised:.0f}："
                "很可能在以 eager 运行",
            ),
            _GRAPH_REMEDY,
        )


def _listed(sizes: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, sizes))}]"
