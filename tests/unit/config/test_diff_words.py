"""What is said about the difference of two routing files."""

from typing import Any

import pytest
from hypothesis import given

from gateway.config.diff import diff
from gateway.config.diff_words import describe
from gateway.config.labels import Labels
from gateway.config.resilience import QueueConfig
from gateway.config.schema import (
    BackendConfig,
    BackendRef,
    Limits,
    ModelConfig,
    RoutingConfig,
)
from tests.unit.config.test_diff import CONFIGS, SLOW, backend, config, model
from tests.unit.config.test_export import configs as any_configs

A = backend("27b-a", "http://10.0.0.5:12320")
B = backend("27b-b", "http://10.0.0.5:12321")
ONE = model("qwen3.5-27b", "27b-a", "27b-b")
TWO = model("small", "27b-a", "27b-b")


def said(
    old: RoutingConfig,
    new: RoutingConfig,
    in_flight: dict[str, int] | None = None,
    waiting: dict[str, int] | None = None,
) -> list[str]:
    return [words.en for words in describe(diff(old, new), in_flight or {}, waiting or {})]


def in_chinese(old: RoutingConfig, new: RoutingConfig, **counts: dict[str, int]) -> list[str]:
    return [words.zh for words in describe(diff(old, new), **counts)]


def test_nothing() -> None:
    one = config([A], [model("m", "27b-a")])
    assert describe(diff(one, one)) == (("nothing changes", "没有任何变化"),)


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (None, "qwen3.5-27b loses backend 27b-a"),
        (0, "qwen3.5-27b loses backend 27b-a"),
        (1, "qwen3.5-27b loses backend 27b-a: 1 request will drain"),
        (3, "qwen3.5-27b loses backend 27b-a: 3 requests will drain"),
    ],
)
@pytest.mark.parametrize("is_disabled", [True, False])
def test_a_model_loses_a_backend(count: int | None, told: str, is_disabled: bool) -> None:
    off = A.model_copy(update={"enabled": False})
    old = config([A, B], [ONE])
    new = config([off, B], [ONE])
    if not is_disabled:
        new = config([B], [model(ONE.name, "27b-b")])
    end = "is disabled" if is_disabled else "(http://10.0.0.5:12320) is removed"
    in_flight = {} if count is None else {"27b-a": count}
    assert said(old, new, in_flight) == [told, f"backend 27b-a {end}"]


def test_a_backend_that_several_models_lose_is_counted_once() -> None:
    old = config([A, B], [ONE, TWO])
    new = config([B], [model(ONE.name, "27b-b"), model("small", "27b-b")])
    assert said(old, new, {"27b-a": 3, "27b-b": 9}) == [
        "qwen3.5-27b, small lose backend 27b-a: 3 requests will drain",
        "backend 27b-a (http://10.0.0.5:12320) is removed",
    ]
    assert in_chinese(old, new, in_flight={"27b-a": 3}) == [
        "qwen3.5-27b、small 失去后端 27b-a：3 个进行中的请求会执行完",
        "后端 27b-a（http://10.0.0.5:12320）被移除",
    ]


def test_a_backend_that_serves_on_elsewhere_does_not_drain() -> None:
    old = config([A, B], [ONE, TWO])
    new = config([A, B], [model(ONE.name, "27b-b"), TWO])
    assert said(old, new, {"27b-a": 3}) == ["qwen3.5-27b loses backend 27b-a"]


def test_a_backend_of_no_model_is_counted_itself() -> None:
    assert said(config([A, B], [ONE]), config([], []), {"27b-a": 2}, {"qwen3.5-27b": 1}) == [
        "model qwen3.5-27b is removed: clients get 404; 1 request waits for it",
        "backend 27b-a (http://10.0.0.5:12320) is removed: 2 requests will drain",
        "backend 27b-b (http://10.0.0.5:12321) is removed",
    ]


NAMED = model("m", "27b-a", aliases=("x", "y"))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ([model("m")], [], ["model m is removed: clients get 404; 2 requests wait for it"]),
        (
            [NAMED],
            [],
            ["model m is removed: clients get 404 for m, x, y; 2 requests wait for it"],
        ),
        (
            [model("m")],
            [model("m", enabled=False)],
            ["model m is disabled: clients get 404; 2 requests wait for it"],
        ),
        ([model("m", enabled=False)], [], ["disabled model m is removed"]),
        ([], [model("m", enabled=False)], ["model m is added, disabled"]),
        ([], [model("m")], ["model m is added"]),
        ([], [NAMED], ["model m is added: clients may also call it x, y"]),
        ([model("m", enabled=False)], [model("m")], ["model m is enabled"]),
        (
            [NAMED],
            [model("n", "27b-a", aliases=("m", "x"))],
            [
                (
                    "model m is removed: clients get 404 for y; m, x now mean model n; "
                    "2 requests wait for it"
                ),
                "model n is added: clients may also call it m, x",
            ],
        ),
        (
            [NAMED],
            [model("m", "27b-a", aliases=("y", "z"))],
            ["model m: clients may also call it z; clients get 404 for x"],
        ),
        ([NAMED], [model("m", "27b-a", aliases=("y", "x"))], ["model m: aliases [x, y] -> [y, x]"]),
        (
            [model("m", "27b-a"), model("n", "27b-a", aliases=("x",))],
            [model("m", "27b-a", aliases=("x",)), model("n", "27b-a")],
            ["model m: clients may also call it x", "model n: x now means model m"],
        ),
        (
            [model("m", "27b-a", limits=Limits(max_output_tokens=5))],
            [model("m", "27b-a", resume="off", heartbeat_s=0.5)],
            [
                (
                    "model m: limits.max_output_tokens 5 -> not given; resume text -> off; "
                    "heartbeat_s 15 -> 0.5"
                )
            ],
        ),
        (
            [model("m", enabled=False)],
            [model("m", enabled=False, aliases=("x",), list_aliases=True)],
            ["model m (disabled): aliases [] -> [x]; list_aliases not given -> true"],
        ),
    ],
)
def test_models(old: list[ModelConfig], new: list[ModelConfig], told: list[str]) -> None:
    assert said(config([A], old), config([A], new), waiting={"m": 2}) == told


def test_members_of_a_model() -> None:
    lora = BackendRef(backend="27b-b", served_name="lora")
    old = config([A, B], [ONE])
    assert said(old, config([A, B], [model(ONE.name, "27b-a", lora)])) == [
        "model qwen3.5-27b: asks backend 27b-b for lora instead of q"
    ]
    assert said(old, config([A, B], [model(ONE.name, "27b-b", "27b-a")])) == [
        "model qwen3.5-27b: backends [27b-a, 27b-b] -> [27b-b, 27b-a]"
    ]
    other = config([A, B.model_copy(update={"served_name": "r"})], [ONE])
    assert said(old, other) == ["backend 27b-b: served_name q -> r"]
    off = [one.model_copy(update={"enabled": False}) for one in (A, B)]
    assert said(old, config(off, [ONE]), {"27b-b": 1})[:3] == [
        "model qwen3.5-27b: no backend is left, so clients get 503",
        "qwen3.5-27b loses backend 27b-a",
        "qwen3.5-27b loses backend 27b-b: 1 request will drain",
    ]


def test_members_by_selector() -> None:
    def pool(name: str, **labels: str) -> BackendConfig:
        return backend(name, labels=Labels(labels))

    by_pool = ModelConfig(name="m", selector=Labels({"pool": "x"}))
    old = config([pool("a", pool="x"), pool("b")], [by_pool])
    assert said(old, config([pool("a"), pool("b", pool="x", row="1")], [by_pool])) == [
        "m loses backend a",
        "m gains backend b",
        "backend a: labels.pool x -> not given",
        "backend b: labels.pool not given -> x; labels.row not given -> 1",
    ]
    assert said(old, config([*old.backends], [model("m", "a")])) == [
        "model m: backends [] -> [a]; selector {pool: x} -> not given"
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (backend("9b", max_num_seqs=8), backend("9b", max_num_seqs=4), "max_num_seqs 8 -> 4"),
        (
            backend("9b", capture_sizes=(1, 4)),
            backend("9b", tier="eager", weight=2.5),
            "tier graph -> eager; capture_sizes [1, 4] -> []; weight 1 -> 2.5",
        ),
        (
            backend("9b", capture_sizes=tuple(range(1, 20))),
            backend("9b", capture_sizes=tuple(range(2, 22))),
            "capture_sizes + [20, 21], - [1]",
        ),
        (
            backend("9b", npus=tuple(range(16))),
            backend("9b", npus=tuple(range(15, -1, -1))),
            "npus in another order",
        ),
        (
            backend("9b", "http://a:1"),
            backend("9b", "http://b:1/v1"),
            "url http://a:1 -> http://b:1; 5 requests will drain",
        ),
        (
            backend("9b", "http://a:80/v1/"),
            backend("9b", "http://a"),
            "url is written in another way, the address http://a:80 stays",
        ),
        (
            backend("9b", "https://a", tls={"ca_file": "/etc/ca.pem"}),
            backend("9b", "https://a", tls={"ca_file": "/etc/ca.pem", "verify": False}),
            "tls.verify true -> false; 5 requests will drain",
        ),
        (
            backend("9b", "https://a"),
            backend("9b", "https://a", tls={"verify": False}),
            "tls not given -> {verify: false}; 5 requests will drain",
        ),
        (
            backend("9b", root="/models/" + "x" * 200),
            backend("9b"),
            f"root /models/{'x' * 69}... -> not given",
        ),
        (backend("9b", keys=("a",)), backend("9b", keys=()), "keys [a] -> []"),
    ],
)
def test_a_backend_changes(old: BackendConfig, new: BackendConfig, told: str) -> None:
    found = said(config([old], [model("m", "9b")]), config([new], [model("m", "9b")]), {"9b": 5})
    assert found == [f"backend 9b: {told}"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ([], [A], ["backend 27b-a (http://10.0.0.5:12320) is added"]),
        (
            [],
            [A.model_copy(update={"enabled": False})],
            ["backend 27b-a (http://10.0.0.5:12320) is added, disabled"],
        ),
        ([A.model_copy(update={"enabled": False})], [], ["disabled backend 27b-a is removed"]),
        (
            [A.model_copy(update={"enabled": False})],
            [A.model_copy(update={"weight": 2.0})],
            ["backend 27b-a (http://10.0.0.5:12320) is enabled: weight 1 -> 2"],
        ),
        (
            [A],
            [A.model_copy(update={"weight": 2.0, "enabled": False})],
            ["backend 27b-a is disabled: weight 1 -> 2; 4 requests will drain"],
        ),
        (
            [backend("a", enabled=False)],
            [backend("a", enabled=False, weight=3.0)],
            ["backend a (disabled): weight 1 -> 3"],
        ),
    ],
)
def test_backends_come_and_go(
    old: list[BackendConfig], new: list[BackendConfig], told: list[str]
) -> None:
    assert said(config(old), config(new), {"27b-a": 4}) == told


def test_a_renamed_backend() -> None:
    new = backend("27b-x", "http://10.0.0.5:12320/v1", weight=2.0)
    old = config([A, B], [ONE, TWO])
    found = said(
        old,
        config([new, B], [model(ONE.name, "27b-x", "27b-b"), model("small", "27b-b")]),
        {"27b-a": 2},
    )
    assert found == [
        "small loses backend 27b-a",
        (
            "backend 27b-a is renamed 27b-x (still at http://10.0.0.5:12320): url is written in "
            "another way, the address http://10.0.0.5:12320 stays; weight 1 -> 2; "
            "2 requests will drain"
        ),
    ]


def test_fields_of_the_file() -> None:
    old = config(queue=QueueConfig(priorities={"app": 1, "ops": -1}), default_model="m")
    new = config(queue=QueueConfig(max_requests=0, priorities={"app": 2, "x": 0}))
    assert said(old, new) == [
        "queue.max_requests 256 -> 0",
        "queue.priorities.app 1 -> 2",
        "queue.priorities.ops -1 -> not given",
        "queue.priorities.x not given -> 0",
        "default_model m -> not given",
    ]
    assert in_chinese(old, new)[-1] == "default_model m → 未设置"


def test_only_what_stays_can_swap_places() -> None:
    assert said(config([A, B]), config([B, A])) == ["the order of backends changes"]
    assert said(config([A]), config([B, A])) == ["backend 27b-b (http://10.0.0.5:12321) is added"]
    one, two = model("m"), model("n")
    assert said(config(models=[one, two]), config(models=[two, one])) == [
        "the order of models changes"
    ]


def test_names_that_would_steer_a_terminal_or_fill_it() -> None:
    odd = "a\u202eb{x}"
    assert said(config(), config(models=[model(odd)])) == ["model a b{x} is added"]
    many = tuple(f"n{number}" for number in range(20))
    assert said(config(models=[model("m", aliases=many)]), config()) == [
        "model m is removed: clients get 404 for m, n0, n1, n2, n3, n4, n5, n6 and 13 more"
    ]


def test_there_is_an_end() -> None:
    found = said(config(), config([backend(f"b{number}") for number in range(500)]))
    assert len(found) == 201
    assert found[-1] == "300 more not shown"


@SLOW
@given(CONFIGS, CONFIGS)
def test_whatever_changes_is_told(old: RoutingConfig, new: RoutingConfig) -> None:
    told(old, new)


@SLOW
@given(any_configs(), any_configs())
def test_whatever_field_changes_is_told(old: RoutingConfig, new: RoutingConfig) -> None:
    told(old, new)


def told(old: RoutingConfig, new: RoutingConfig) -> None:
    in_flight: Any = {one.name: 1 for one in old.backends}
    found = describe(diff(old, new), in_flight)
    assert found
    assert ("nothing changes" in [words.en for words in found]) == (old == new)
    for words in found:
        assert words.en.isprintable()
        assert words.zh.isprintable()
        assert not words.en.endswith((":", ";"))
