"""What /health says: the fleet as plain data, without addresses."""

from typing import Any

from gateway.fleet.health.evidence import Activity
from gateway.fleet.health.machine import State
from gateway.fleet.live import LiveBackend
from gateway.fleet.names import Model
from gateway.fleet.registry import Registry
from gateway.fleet.telemetry.freshness import Gauges

_SERVING = (State.UP, State.DEGRADED)


def is_servable(fleet: Registry, model: Model, now: float) -> bool:
    """Whether some backend of the model is known to serve it now."""
    return any(
        fleet.backends[m.backend.name].state in _SERVING
        and not fleet.backends[m.backend.name].served.misses(m.served_name, now)
        for m in model.members
    )


def is_any_servable(fleet: Registry, now: float) -> bool:
    """Whether at least one model can be served."""
    return any(is_servable(fleet, model, now) for model in fleet.names.models.values())


def report(fleet: Registry, now: float) -> dict[str, Any]:
    """Status `ok`, `degraded` or `down`, and each model and backend with its state and reason."""
    models = {name: _model(fleet, model, now) for name, model in fleet.names.models.items()}
    backends = {name: _backend(backend, now) for name, backend in fleet.backends.items()}
    statuses = [m["status"] for m in models.values()]
    is_all_well = all(s == "available" for s in statuses) and all(
        b["state"] == State.UP.value and not b["drift"] for b in backends.values()
    )
    status = "ok" if is_all_well else "degraded"
    if "available" not in statuses:
        status = "down"
    leaving = [{"backend": b.config.name, "in_flight": b.in_flight} for b in fleet.leaving]
    return {"status": status, "models": models, "backends": backends, "leaving": leaving}


def _model(fleet: Registry, model: Model, now: float) -> dict[str, Any]:
    members = [(m.backend.name, m.served_name) for m in model.members]
    return {
        "status": "available" if is_servable(fleet, model, now) else "unavailable",
        "aliases": list(model.config.aliases),
        "fallback_models": list(model.config.fallback_models),
        "backends": [name for name, _ in members],
        "learnt": _lessons(fleet, model.name),
        "missing_on": [n for n, served in members if fleet.backends[n].served.misses(served, now)],
    }


def _engine(seen: Activity | Gauges | None) -> dict[str, Any] | None:
    """What the engine itself told at the last look, load of others included."""
    if seen is None:
        return None
    return {
        "running": seen.running,
        "waiting": seen.waiting,
        "kv_usage_ratio": None if seen.kv_usage_ratio is None else round(seen.kv_usage_ratio, 4),
        "kv_capacity_tokens": seen.kv_capacity_tokens,
        "preemptions_total": seen.preemptions_total,
    }


def _learnt(backend: LiveBackend) -> dict[str, Any]:
    """What its answers have taught: seconds a step takes alone and at the cap, prompt speed."""
    work = backend.work
    speed = work.speed()
    graph_tokens, eager_tokens = work.decode.samples_tokens
    return {
        "step_alone_s": round(speed.steps[1], 5),
        "step_at_cap_s": round(speed.steps[speed.cap], 5),
        "step_at_limit_s": round(speed.steps[-1], 5),
        "graph_reaches": work.decode.largest,
        "prompt_tokens_per_s": round(1.0 / speed.token_s, 1),
        "prompt_fixed_s": round(speed.fix_s, 4),
        "kv_tokens": speed.kv_tokens,
        "seen_tokens": {"graph": round(graph_tokens), "eager": round(eager_tokens)},
        "seen_prompts": work.prefill.samples,
    }


def _lessons(fleet: Registry, name: str) -> dict[str, Any]:
    """What was learnt of the model: how long its answers are, and tokens of text."""
    lessons = fleet.lessons[name]
    plain, wide = lessons.text.ratios
    return {
        "answer_tokens": round(lessons.lengths.left_tokens(0, None), 1),
        "seen_answers": round(lessons.lengths.overall.samples),
        "tokens_per_byte": {"plain": round(plain, 4), "wide": round(wide, 4)},
    }


def _backend(backend: LiveBackend, now: float) -> dict[str, Any]:
    health = backend.health
    return {
        "state": backend.state.value,
        "since_s": round(max(0.0, now - health.since_s), 3),
        "reason": backend.reason,
        "breaker": backend.breaker.phase(now).value,
        "finding": backend.finding,
        "warned": backend.warned or None,
        "tier": backend.config.tier.value,
        "in_flight": backend.in_flight,
        "cap": backend.cap,
        "learnt": _learnt(backend),
        "hard_limit": backend.hard_limit,
        "max_model_len": backend.served.max_model_len(backend.config.served_name),
        "engine": _engine(backend.work.figures.last or backend.progress.activity),
        "drift": [
            {"kind": d.kind.value, "served_name": d.served_name, "message": d.message}
            for d in backend.served.all_drift(now)
        ],
    }
