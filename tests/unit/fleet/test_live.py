"""The moving numbers of one backend, its lease, and the registry over all."""

import pytest

from gateway.config.load import load_text
from gateway.fleet.health.evidence import (
    Activity,
    CanaryOk,
    DrainBegun,
    Evidence,
    Hung,
    Look,
    ModelCard,
    ProbeFailed,
    ProbeOk,
    ProbeTrouble,
    RequestFailed,
    RequestSucceeded,
    Severity,
)
from gateway.fleet.health.machine import State
from gateway.fleet.lease import Lease
from gateway.fleet.listing import listed_model, listed_models
from gateway.fleet.registry import Registry
from gateway.fleet.report import is_any_servable, report
from gateway.fleet.served import REFUSED_NAME_HOLD_S
from gateway.fleet.speed import SpeedSample
from gateway.fleet.view import Standing

FILE = """
version: 1
health: {canary: false, ramp_s: 10}
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
    lease = Lease(registry.backends["a"])
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
    with Lease(registry.backends["a"]):
        during = registry.view(model, 0.0)
    assert [b.in_flight for b in before.backends] == [0, 0]
    assert [b.in_flight for b in during.backends] == [1, 0]
    facts = before.backends[0].facts
    assert (facts.hard_limit, facts.max_model_len) == (8, 8192)
    assert [backend.cap for backend in before.backends] == [4, 8]


def test_what_is_learnt_shows_in_the_next_view() -> None:
    registry = fleet()
    model = registry.names.models["public"]
    assert registry.view(model, 0.0).backends[0].facts.state is State.UNKNOWN
    registry.backends["a"].observe(ProbeOk((ModelCard("m", max_model_len=4096),)), 1.0)
    facts = registry.view(model, 1.0).backends[0].facts
    assert (facts.state, facts.max_model_len, facts.is_missing) == (State.UP, 4096, False)
    registry.backends["a"].observe(ProbeOk((ModelCard("x"),)), 2.0)
    assert registry.view(model, 2.0).backends[0].facts.is_missing
    registry.backends["a"].observe(RequestFailed("no", Severity.UNREACHABLE), 3.0)
    assert registry.view(model, 3.0).backends[0].facts.state is State.DOWN


def test_a_refused_name_is_not_asked_for_a_while() -> None:
    registry = fleet()
    model = registry.names.models["public"]
    registry.backends["a"].refuse_name("m", 10.0)
    assert registry.view(model, 10.0).backends[0].facts.is_missing
    assert [d.kind.value for d in registry.backends["a"].served.all_drift(10.0)] == ["refused_name"]
    later = 10.0 + REFUSED_NAME_HOLD_S
    assert not registry.view(model, later).backends[0].facts.is_missing
    assert registry.backends["a"].served.all_drift(later) == ()


def test_fallbacks_leave_out_what_is_disabled() -> None:
    registry = fleet()
    model = registry.names.models["public"]
    assert [m.name for m in registry.fallbacks(model)] == ["public2"]
    assert registry.fallbacks(registry.names.models["public2"]) == ()


def test_the_list_has_each_model_once_with_the_smallest_context() -> None:
    registry = fleet()
    registry.backends["a"].observe(
        ProbeOk((ModelCard("m", max_model_len=4096, owned_by="us"),)), 1.0
    )
    registry.backends["b"].observe(ProbeOk((ModelCard("m", max_model_len=2048),)), 1.0)
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
    registry.backends["a"].observe(ProbeOk((ModelCard("m", parent="m"),)), 1.0)
    assert listed_model(registry, "public", permitted, 7, 1.0).parent == "public"
    registry.backends["a"].observe(ProbeOk((ModelCard("m", parent="/models/base"),)), 2.0)
    assert listed_model(registry, "public", permitted, 7, 2.0).parent is None


@pytest.mark.parametrize(
    ("probed", "status"),
    [([], "down"), (["a"], "degraded"), (["b"], "degraded"), (["a", "b"], "ok")],
)
def test_the_status_of_the_whole(probed: list[str], status: str) -> None:
    registry = fleet()
    for name in probed:
        registry.backends[name].observe(ProbeOk((ModelCard("m"),)), 1.0)
    told = report(registry, 2.0)
    assert told["status"] == status
    assert is_any_servable(registry, 2.0) == (status != "down")
    assert "http" not in str(told)


def test_drift_degrades_the_whole() -> None:
    registry = fleet()
    registry.backends["a"].observe(ProbeOk((ModelCard("m"),)), 1.0)
    registry.backends["b"].observe(ProbeOk((ModelCard("x"),)), 1.0)
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


LATE = ProbeFailed(ProbeTrouble.TIMEOUT, "late")
GONE = ProbeFailed(ProbeTrouble.REFUSED, "gone")


def standing(registry: Registry, now: float = 1.0) -> Standing:
    return registry.view(registry.names.models["public"], now).backends[0].standing


def test_standings() -> None:
    registry = fleet()
    assert standing(registry) is Standing.DOUBTFUL
    registry.backends["a"].observe(ProbeOk(None), 1.0)
    assert standing(registry) is Standing.READY
    registry.backends["a"].observe(RequestFailed("cut"), 1.0)
    assert standing(registry) is Standing.DOUBTFUL
    for _ in range(2):
        registry.backends["a"].observe(RequestFailed("cut"), 1.0)
    assert standing(registry) is Standing.LAST_RESORT  # the breaker is open
    registry.backends["a"].observe(RequestSucceeded(), 2.0)
    assert standing(registry, 2.0) is Standing.READY
    for _ in range(3):
        registry.backends["a"].observe(LATE, 3.0)
    assert standing(registry, 3.0) is Standing.LAST_RESORT  # it may only be busy
    registry.backends["a"].observe(GONE, 4.0)
    assert standing(registry, 4.0) is Standing.OUT
    registry.backends["a"].observe(Hung("stands"), 5.0)
    assert standing(registry, 5.0) is Standing.OUT


def test_after_the_breaker_one_request_at_a_time_may_try() -> None:
    registry = fleet()
    registry.backends["a"].observe(ProbeOk(None), 0.0)
    for _ in range(3):
        registry.backends["a"].observe(RequestFailed("cut"), 0.0)
    assert standing(registry, 4.9) is Standing.LAST_RESORT
    assert standing(registry, 5.0) is Standing.READY
    with Lease(registry.backends["a"]):
        assert standing(registry, 5.0) is Standing.LAST_RESORT


def test_changes_are_told_once_with_their_reason() -> None:
    registry = fleet()
    (change,) = registry.backends["a"].observe(ProbeOk(None), 1.0)
    assert (change.what, change.before, change.after) == ("state", "unknown", "up")
    assert registry.backends["a"].observe(ProbeOk(None), 2.0) == ()
    told = [c for _ in range(3) for c in registry.backends["a"].observe(RequestFailed("cut"), 3.0)]
    assert [(c.what, c.after) for c in told] == [("state", "degraded"), ("breaker", "open")]
    (drift,) = registry.backends["a"].observe(ProbeOk((ModelCard("x"),)), 4.0)
    assert (drift.what, drift.after) == ("drift", "name_missing")


def test_the_share_rises_after_a_recovery_only() -> None:
    registry = fleet()
    model = registry.names.models["public"]
    registry.backends["a"].observe(ProbeOk(None), 0.0)
    assert registry.view(model, 0.0).backends[0].share_ratio == 1.0
    registry.backends["a"].observe(GONE, 1.0)
    registry.backends["a"].observe(ProbeOk(None), 2.0)
    shares = [registry.view(model, 2.0 + s).backends[0].share_ratio for s in (0.0, 5.0, 10.0, 99.0)]
    assert shares == [pytest.approx(0.1), pytest.approx(0.55), 1.0, 1.0]


def test_a_canary_comes_before_up() -> None:
    loaded = load_text(FILE.replace("canary: false", "canary: true"), "test.yaml")
    assert loaded.config is not None
    registry = Registry(loaded.config, "v1", 0.0)
    registry.backends["a"].observe(ProbeOk(None), 1.0)
    assert registry.backends["a"].state is State.STARTING
    assert standing(registry) is Standing.DOUBTFUL  # at first, better than nothing
    registry.backends["a"].observe(CanaryOk(), 2.0)
    assert registry.backends["a"].state is State.UP
    registry.backends["a"].observe(RequestFailed("EngineCore", Severity.CRASH), 3.0)
    registry.backends["a"].observe(ProbeOk(None), 4.0)
    assert standing(registry, 4.0) is Standing.LAST_RESORT  # after a crash, until it generates


def test_a_slow_graph_backend_shows_and_recovers() -> None:
    registry = fleet()
    for name in ("a", "b"):
        registry.backends[name].observe(ProbeOk(None), 0.0)
    slow, eager = SpeedSample(0.18, 1, 1), SpeedSample(0.17, 1, 1)
    for _ in range(8):
        registry.note_speed(registry.backends["b"], eager, 1.0)
    told = [c for _ in range(8) for c in registry.note_speed(registry.backends["a"], slow, 1.0)]
    assert [(c.before, c.after) for c in told] == [("up", "degraded")]
    assert "eager" in registry.backends["a"].reason
    model = registry.names.models["public"]
    assert registry.view(model, 1.0).backends[0].facts.is_slow
    told = [
        c
        for _ in range(24)
        for c in registry.note_speed(registry.backends["a"], SpeedSample(0.06, 1, 1), 2.0)
    ]
    assert [(c.before, c.after) for c in told] == [("degraded", "up")]


def test_an_open_breaker_shows_in_state_and_reason() -> None:
    registry = fleet()
    backend = registry.backends["a"]
    registry.backends["a"].observe(ProbeOk(None), 0.0)
    backend.finding = "a known cause"
    for _ in range(3):
        registry.backends["a"].observe(RequestFailed("cut"), 0.0)
    assert report(registry, 1.0)["backends"]["a"]["breaker"] == "open"
    assert (backend.state, backend.finding) == (State.DEGRADED, "a known cause")
    told = registry.backends["a"].observe(CanaryOk(), 6.0)
    assert [(c.what, c.after) for c in told] == [("breaker", "closed"), ("state", "up")]
    assert (backend.state, backend.finding) == (State.UP, None)


@pytest.mark.parametrize(
    ("evidence", "may_serve", "is_lost"),
    [
        ([], True, False),
        ([ProbeOk(None), RequestFailed("cut")], True, False),
        ([LATE], True, False),  # silent is not dead
        ([GONE], False, True),
        ([RequestFailed("EngineCore", Severity.CRASH)], False, True),
        ([Hung("stands")], False, True),
        ([ProbeOk(None), DrainBegun("upgrade")], False, False),
    ],
)
def test_who_may_serve(evidence: list[Evidence], may_serve: bool, is_lost: bool) -> None:
    backend = fleet().backends["a"]
    for one in evidence:
        backend.observe(one, 1.0)
    assert (backend.may_serve, backend.is_certainly_down) == (may_serve, is_lost)


def test_a_look_that_shows_a_hang_takes_it_out() -> None:
    registry = fleet()
    backend = registry.backends["a"]
    frozen = Look(ProbeOk(None), Activity(1.0, 0.0, 5.0, 5.0), 0.0, True)
    backend.look(frozen, 1.0)
    assert backend.look(frozen, 11.0) == ()
    assert [c.after for c in backend.look(frozen, 11.1)] == ["down"]
    assert backend.is_hung
    assert standing(registry, 12.0) is Standing.OUT
    registry.backends["a"].observe(DrainBegun("upgrade"), 12.0)
    assert (backend.state, backend.reason) == (State.DRAINING, "upgrade")
