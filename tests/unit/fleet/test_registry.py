"""One routing file after another: what stays, what comes and what leaves."""

import time
from typing import Any

import pytest
import yaml

from gateway.config.load import load_text
from gateway.config.schema import RoutingConfig
from gateway.fleet.health.evidence import DrainBegun, ModelCard, ProbeOk, RequestFailed, Severity
from gateway.fleet.health.machine import State
from gateway.fleet.lease import Lease
from gateway.fleet.registry import Registry

A = {"name": "a", "url": "http://h:1", "served_name": "m", "max_num_seqs": 8}
B = {"name": "b", "url": "http://h:2", "served_name": "m", "max_num_seqs": 8}


def config(*backends: dict[str, Any], **top: Any) -> RoutingConfig:
    names = [b["name"] for b in backends]
    tree = {
        "version": 1,
        "backends": list(backends),
        "models": [{"name": "m1", "backends": names}],
        **top,
    }
    loaded = load_text(yaml.safe_dump(tree), "r.yaml")
    assert loaded.config is not None, loaded.render()
    return loaded.config


def fleet(*backends: dict[str, Any], **top: Any) -> Registry:
    return Registry(config(*backends, **top), "v1", 0.0)


def test_who_stays_keeps_all_that_is_known_of_it() -> None:
    registry = fleet(A, B)
    a, lessons = registry.backends["a"], registry.lessons["m1"]
    with Lease(a):
        a.observe(RequestFailed("gone", Severity.UNREACHABLE), 1.0)
        swap = registry.apply(config({**A, "weight": 3.0}, B), "v2", 2.0)
        assert registry.backends["a"] is a
        assert (a.state, a.in_flight, a.config.weight) == (State.DOWN, 1, 3.0)
    assert a.in_flight == 0
    assert registry.lessons["m1"] is lessons
    assert (swap.added, swap.removed, registry.version) == ((), (), "v2")


CHANGES: list[tuple[str, dict[str, Any], bool]] = [
    ("weight", {"weight": 2.0}, True),
    ("labels", {"labels": {"team": "x"}}, True),
    ("served name", {"served_name": "n"}, True),
    ("sizes", {"capture_sizes": [1, 4]}, True),
    ("url spelled otherwise", {"url": "http://H:1/v1/"}, True),
    ("another name", {"name": "c"}, True),
    ("another port", {"url": "http://h:3"}, False),
    ("another prefix", {"url": "http://h:1/x"}, False),
    ("tls", {"url": "https://h:1"}, False),
]


@pytest.mark.parametrize(("change", "stays"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_a_server_is_known_by_its_address(change: dict[str, Any], stays: bool) -> None:
    registry = fleet(A, B)
    before = registry.backends["a"]
    changed = {**A, **change}
    swap = registry.apply(config(changed, B), "v2", 1.0)
    now = registry.backends[changed["name"]]
    assert (now is before) is stays
    assert (list(swap.removed), list(swap.added)) == (([], []) if stays else ([before], [now]))
    assert registry.leaving == ([] if stays else [before])
    assert now.config.name == changed["name"]


def test_who_leaves_takes_nothing_new_and_is_forgotten_when_it_is_gone() -> None:
    registry = fleet(A, B)
    a, old = registry.backends["a"], registry.names.models["m1"]
    registry.apply(config(B), "v2", 1.0)
    assert a.state is State.DRAINING
    assert [b.facts.name for b in registry.view(old, 1.0).backends] == ["b"]
    registry.left(a)
    assert registry.leaving == []


def test_who_comes_back_before_it_is_gone_was_never_away() -> None:
    registry = fleet(A, B)
    a = registry.backends["a"]
    with Lease(a):
        registry.apply(config(B), "v2", 1.0)
        swap = registry.apply(config(A, B), "v3", 2.0)
        assert registry.backends["a"] is a
        assert a.in_flight == 1
    assert swap.added == (a,)
    assert a.health.drain_reason is None
    assert registry.leaving == []


def test_names_can_be_exchanged() -> None:
    registry = fleet(A, B)
    a, b = registry.backends["a"], registry.backends["b"]
    registry.apply(config({**A, "name": "b"}, {**B, "name": "a"}), "v2", 1.0)
    assert registry.backends == {"b": a, "a": b}
    assert (a.config.name, b.config.name) == ("b", "a")


def test_a_drain_outlives_a_reload() -> None:
    registry = fleet(A, B)
    registry.backends["a"].observe(DrainBegun("new memory"), 1.0)
    registry.apply(config({**A, "weight": 2.0}, B), "v2", 2.0)
    assert registry.backends["a"].state is State.DRAINING


def test_learnt_speeds_stay_unless_other_batches_run_on_the_graph() -> None:
    registry = fleet({**A, "capture_sizes": [1, 4]}, B)
    a = registry.backends["a"]
    for _ in range(50):
        a.work.decode.add(1, 0.5, 64, 1.0)
    learnt_s = a.work.decode.step_s(1)
    registry.apply(config({**A, "capture_sizes": [1, 4], "weight": 2.0}, B), "v2", 2.0)
    assert a.work.decode.step_s(1) == learnt_s
    registry.apply(config({**A, "capture_sizes": [1, 8], "weight": 2.0}, B), "v3", 3.0)
    assert a.work.decode.samples_tokens == (0.0, 0.0)
    assert (a.cap, a.hard_limit) == (8, 8)


def test_drift_is_judged_by_the_file_in_force() -> None:
    registry = fleet(A)
    a = registry.backends["a"]
    a.observe(ProbeOk((ModelCard("m"),)), 1.0)
    swap = registry.apply(config({**A, "served_name": "other"}), "v2", 2.0)
    assert [c.what for c in swap.changes] == ["drift"]
    assert a.served.misses("other", 2.0)
    swap = registry.apply(config(A), "v3", 3.0)
    assert [c.after for c in swap.changes] == ["none"]


def test_rules_of_health_change_for_those_that_stay() -> None:
    registry = fleet(A, health={"canary": False, "breaker_failures": 9})
    a = registry.backends["a"]
    registry.apply(config(A, health={"canary": True, "canary_idle_s": 7}), "v2", 1.0)
    assert (a.health.has_canary, a.health_rules.canary_idle_s) == (True, 7.0)


def test_a_model_that_is_gone_is_what_is_left_of_it() -> None:
    registry = fleet(A, B)
    old = registry.names.models["m1"]
    new = registry.names.models["m1"]
    assert registry.current(old) is new
    renamed = config(B, models=[{"name": "m2", "backends": ["b"]}])
    registry.apply(renamed, "v2", 1.0)
    left = registry.current(old)
    assert (left.name, [m.backend.name for m in left.members]) == ("m1", ["b"])
    assert registry.lessons_of("m1").lengths.overall.samples == 0


@pytest.mark.parametrize("port", [1, 2], ids=["stays", "moves"])
def test_a_large_fleet_is_not_compared_all_with_all(port: int) -> None:
    """In the event loop, in which all streams stand still meanwhile."""
    before, after = (
        config(*({**A, "name": f"b{n}", "url": f"http://h{n}:{at}"} for n in range(400)))
        for at in (1, port)
    )
    registry = Registry(before, "v1", 0.0)
    began_s = time.process_time()
    registry.apply(after, "v2", 1.0)
    assert time.process_time() - began_s < 0.4


@pytest.mark.parametrize(
    ("backends", "left"),
    [
        ([{**A, "name": "new"}, {**B, "name": "other"}], ["new", "other"]),
        ([{**A, "name": "b"}, {**B, "name": "a"}], ["b", "a"]),
        ([{**A, "url": "http://h:3"}, B], ["b"]),
    ],
    ids=["renamed", "exchanged", "moved"],
)
def test_what_is_left_of_a_model_are_its_servers(
    backends: list[dict[str, Any]], left: list[str]
) -> None:
    registry = fleet(A, B)
    old = registry.names.models["m1"]
    models = [{"name": "m2", "backends": [b["name"] for b in backends]}]
    registry.apply(config(*backends, models=models), "v2", 1.0)
    assert [m.backend.name for m in registry.current(old).members] == left
    assert len(registry.view(registry.current(old), 2.0).backends) == len(left)
