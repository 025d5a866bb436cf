"""The moving numbers of one backend, its lease, and the registry over all."""

import pytest

from gateway.config.load import load_text
from gateway.fleet.health.evidence import ModelCard, ProbeOk, RequestFailed
from gateway.fleet.health.machine import State
from gateway.fleet.listing import listed_model, listed_models
from gateway.fleet.live import REFUSED_NAME_HOLD_S
from gateway.fleet.registry import Registry
from gateway.fleet.report import is_any_servable, report

FILE = """
version: 1
backends:
  - {name: a, url: "http://h:1", served_name: m, max_num_seqs: 8, capture_sizes: [1, 4],
     max_model_len: 8192}
  - {name: b, url: "http://h:2", served_name: m, tier: eager, max_num_seqs: 8}
models:
  - {name: public, aliases: [nick], backends: [a, b], fallback_models: [other, public2]}
  - {name: public2, backends: [b], list_aliases: true, aliases: [nick2]}
  - {name: other, backends: [a], enabled: false}
"""


def fleet() -> Registry:
    loaded = load_text(FILE, "test.yaml")
    assert loaded.config is not None, loaded.render()
    return Registry(loaded.config, "v1", 0.0)


def permitted(model: str) -> bool:
    return bool(model)


def test_a_lease_counts_once_whatever_happens() -> None:
    registry = fleet()
    backend = registry.backends["a"]
    lease = registry.lease("a")
    with pytest.raises(RuntimeError, match="broken"), lease:
        assert backend.in_flight == 1
        assert repr(lease) == "<Lease a held>"
        raise RuntimeError("broken")
    assert backend.in_flight == 0
    with pytest.raises(RuntimeError, match="can't be taken again"), lease:
        pass
    assert backend.in_flight == 0


def test_a_view_is_a_snapshot() -> None:
    registry = fleet()
    model = registry.names.models["public"]
    before = registry.view(model, 0.0)
    with registry.lease("a"):
        during = registry.view(model, 0.0)
    assert [b.in_flight for b in before.backends] == [0, 0]
    assert [b.in_flight for b in during.backends] == [1, 0]
    facts = before.backends[0].facts
    assert (facts.cap, facts.hard_limit, facts.max_model_len) == (4, 8, 8192)
    assert before.backends[1].facts.cap == 8


def test_what_is_learnt_shows_in_the_next_view() -> None:
    registry = fleet()
    model = registry.names.models["public"]
    assert registry.view(model, 0.0).backends[0].facts.state is State.UNKNOWN
    registry.observe("a", ProbeOk((ModelCard("m", max_model_len=4096),)), 1.0)
    facts = registry.view(model, 1.0).backends[0].facts
    assert (facts.state, facts.max_model_len, facts.is_missing) == (State.UP, 4096, False)
    registry.observe("a", ProbeOk((ModelCard("x"),)), 2.0)
    assert registry.view(model, 2.0).backends[0].facts.is_missing
    registry.observe("a", RequestFailed("no", is_unreachable=True), 3.0)
    assert registry.view(model, 3.0).backends[0].facts.state is State.DOWN


def test_a_refused_name_is_not_asked_for_a_while() -> None:
    registry = fleet()
    model = registry.names.models["public"]
    registry.backends["a"].refuse_name("m", 10.0)
    assert registry.view(model, 10.0).backends[0].facts.is_missing
    assert [d.kind.value for d in registry.backends["a"].all_drift(10.0)] == ["refused_name"]
    later = 10.0 + REFUSED_NAME_HOLD_S
    assert not registry.view(model, later).backends[0].facts.is_missing
    assert registry.backends["a"].all_drift(later) == ()


def test_fallbacks_leave_out_what_is_disabled() -> None:
    registry = fleet()
    model = registry.names.models["public"]
    assert [m.name for m in registry.fallbacks(model)] == ["public2"]
    assert registry.fallbacks(registry.names.models["public2"]) == ()


def test_the_list_has_each_model_once_with_the_smallest_context() -> None:
    registry = fleet()
    registry.observe("a", ProbeOk((ModelCard("m", max_model_len=4096, owned_by="us"),)), 1.0)
    registry.observe("b", ProbeOk((ModelCard("m", max_model_len=2048),)), 1.0)
    listed = listed_models(registry, permitted, 7, 1.0)
    assert [(m.id, m.max_model_len, m.status) for m in listed] == [
        ("public", 2048, "available"),
        ("public2", 2048, "available"),
        ("nick2", 2048, "available"),
    ]
    assert listed[0].owned_by == "us"
    assert listed_model(registry, "nick", permitted, 7, 1.0).id == "nick"


def test_the_parent_of_an_adapter_is_shown_by_its_public_name_and_never_as_a_path() -> None:
    registry = fleet()
    registry.observe("a", ProbeOk((ModelCard("m", parent="m"),)), 1.0)
    assert listed_model(registry, "public", permitted, 7, 1.0).parent == "public"
    registry.observe("a", ProbeOk((ModelCard("m", parent="/models/base"),)), 2.0)
    assert listed_model(registry, "public", permitted, 7, 2.0).parent is None


@pytest.mark.parametrize(
    ("probed", "status"),
    [([], "down"), (["a"], "degraded"), (["b"], "degraded"), (["a", "b"], "ok")],
)
def test_the_status_of_the_whole(probed: list[str], status: str) -> None:
    registry = fleet()
    for name in probed:
        registry.observe(name, ProbeOk((ModelCard("m"),)), 1.0)
    told = report(registry, 2.0)
    assert told["status"] == status
    assert is_any_servable(registry, 2.0) == (status != "down")
    assert "http" not in str(told)


def test_drift_degrades_the_whole() -> None:
    registry = fleet()
    registry.observe("a", ProbeOk((ModelCard("m"),)), 1.0)
    registry.observe("b", ProbeOk((ModelCard("x"),)), 1.0)
    told = report(registry, 2.0)
    assert told["status"] == "degraded"
    assert told["models"]["public"]["missing_on"] == ["b"]
    assert told["models"]["public2"]["status"] == "unavailable"
    assert told["backends"]["b"]["drift"][0]["kind"] == "name_missing"


def test_state_holders_show_themselves() -> None:
    registry = fleet()
    assert repr(registry.backends["a"]) == "<LiveBackend a unknown 0/4 in flight>"
    assert "2 models" in repr(registry.names)
    assert repr(registry).startswith("<Registry v1 ")
