"""What a server says of itself against the routing file: each difference, and none without one."""

from typing import Any

import pytest

from gateway.config.backend import BackendConfig
from gateway.fleet.account import Account, EngineFacts, Trouble, TroubleKind
from gateway.fleet.account_drift import Difference, Weight, differences
from gateway.fleet.health.evidence import ModelCard
from gateway.words import Words

CARD = ModelCard("m", root="/models/m", max_model_len=8192, owned_by="vllm")
ENGINE = EngineFacts(
    is_eager=False, graph_mode="FULL_DECODE_ONLY", capture_sizes=(1, 4), max_num_seqs=8
)


def backend(**fields: Any) -> BackendConfig:
    base = {
        "name": "b",
        "url": "http://h:1",
        "served_name": "m",
        "root": "/models/m/",
        "max_model_len": 8192,
        "capture_sizes": [1, 4],
        "max_num_seqs": 8,
        "chip": "310P",
        "tensor_parallel": 2,
    }
    return BackendConfig.model_validate({**base, **fields})


def account(**fields: Any) -> Account:
    return Account(**{"url": "http://h:1", "cards": (CARD,), "engine": ENGINE, **fields})


def engine(**fields: Any) -> Account:
    known = {name: getattr(ENGINE, name) for name in EngineFacts.__dataclass_fields__}
    return account(engine=EngineFacts(**{**known, **fields}))


GONE = Trouble(TroubleKind.REFUSED, Words("it refuses connections", "连接被拒绝"))
CASES: list[tuple[str, dict[str, Any], Account, list[tuple[Difference, Weight]]]] = [
    ("as configured", {}, account(), []),
    ("says nothing", {}, account(engine=None), [(Difference.TIER_UNTOLD, Weight.NOTE)]),
    (
        "unreachable",
        {},
        account(failure=GONE, cards=None, engine=None),
        [(Difference.UNREACHABLE, Weight.ERROR)],
    ),
    ("no list", {}, account(cards=None), [(Difference.LIST_UNREADABLE, Weight.ERROR)]),
    ("other name", {}, account(cards=(ModelCard("x"),)), [(Difference.NAME_MISSING, Weight.ERROR)]),
    ("other root", {"root": "/models/other"}, account(), [(Difference.OTHER_ROOT, Weight.ERROR)]),
    (
        "shorter",
        {"max_model_len": 16384},
        account(),
        [(Difference.SHORTER_CONTEXT, Weight.WARNING)],
    ),
    ("longer is fine", {"max_model_len": 4096}, account(), []),
    (
        "eager",
        {},
        engine(is_eager=True, capture_sizes=()),
        [(Difference.EAGER_INSTEAD_OF_GRAPH, Weight.ERROR)],
    ),
    (
        "graph",
        {"tier": "eager", "capture_sizes": []},
        account(),
        [(Difference.GRAPH_INSTEAD_OF_EAGER, Weight.NOTE)],
    ),
    ("sizes", {"capture_sizes": [1, 8]}, account(), [(Difference.OTHER_SIZES, Weight.WARNING)]),
    ("sizes not given", {"capture_sizes": []}, account(), [(Difference.OTHER_SIZES, Weight.NOTE)]),
    ("seqs", {"max_num_seqs": 4}, account(), [(Difference.OTHER_MAX_NUM_SEQS, Weight.WARNING)]),
    ("tp", {}, engine(tensor_parallel=4), [(Difference.OTHER_TENSOR_PARALLEL, Weight.NOTE)]),
    (
        "slow",
        {},
        account(engine=None, decode_tokens_per_s=5.5),
        [(Difference.PROBABLY_EAGER, Weight.WARNING)],
    ),
    ("fast", {}, account(engine=None, decode_tokens_per_s=16.0), []),
    ("slow but told", {}, account(decode_tokens_per_s=5.5), []),
    (
        "unknown chip",
        {"chip": "A2"},
        account(engine=None, decode_tokens_per_s=5.5),
        [(Difference.TIER_UNTOLD, Weight.NOTE)],
    ),
]


@pytest.mark.parametrize(
    ("fields", "said", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_differences(
    fields: dict[str, Any], said: Account, expected: list[tuple[Difference, Weight]]
) -> None:
    found = differences(backend(**fields), frozenset({"m"}), said)
    assert [(one.kind, one.weight) for one in found] == expected
    for one in found:
        assert one.backend == "b"
        for words in (one.told, one.remedy):
            assert words.en != words.zh
            assert any("\u4e00" <= ch <= "\u9fff" for ch in words.zh)


TROUBLES = [
    (TroubleKind.BAD_URL, Difference.UNREACHABLE),
    (TroubleKind.REFUSED, Difference.UNREACHABLE),
    (TroubleKind.UNREACHABLE, Difference.UNREACHABLE),
    (TroubleKind.TIMEOUT, Difference.UNREACHABLE),
    (TroubleKind.TLS, Difference.TLS_FAILED),
    (TroubleKind.UNHEALTHY, Difference.UNHEALTHY),
    (TroubleKind.KEY_REFUSED, Difference.KEY_REFUSED),
    (TroubleKind.NOT_VLLM, Difference.NOT_VLLM),
]


@pytest.mark.parametrize(("trouble", "kind"), TROUBLES)
def test_why_a_server_could_not_be_asked(trouble: TroubleKind, kind: Difference) -> None:
    failure = Trouble(trouble, Words("why", "原因"))
    (found,) = differences(
        backend(), frozenset({"m"}), account(failure=failure, cards=None, engine=None)
    )
    assert (found.kind, found.weight) == (kind, Weight.ERROR)
    assert set(TroubleKind) == {one for one, _ in TROUBLES}


def test_an_eager_twin_tells_on_any_chip() -> None:
    slow = account(engine=None, decode_tokens_per_s=21.0)
    found = differences(backend(chip="A2"), frozenset({"m"}), slow, 20.0)
    assert [one.kind for one in found] == [Difference.PROBABLY_EAGER]
    fast = account(engine=None, decode_tokens_per_s=60.0)
    assert differences(backend(chip="A2"), frozenset({"m"}), fast, 20.0) == ()


def test_every_kind_is_shown_by_a_case() -> None:
    shown = {kind for _, _, _, found in CASES for kind, _ in found}
    shown |= {kind for _, kind in TROUBLES}
    # Told by whoever asks, since only it looks for the key.
    assert shown == set(Difference) - {Difference.KEY_MISSING}


def test_the_worst_comes_first_and_all_are_told() -> None:
    facts = EngineFacts(is_eager=False, max_num_seqs=4, tensor_parallel=1)
    said = account(cards=(ModelCard("x"),), engine=facts)
    kinds = [one.kind for one in differences(backend(), frozenset({"m", "lora"}), said)]
    assert kinds == [
        Difference.NAME_MISSING,
        Difference.NAME_MISSING,
        Difference.OTHER_MAX_NUM_SEQS,
        Difference.OTHER_TENSOR_PARALLEL,
    ]
