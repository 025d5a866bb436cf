"""What a routing file says of health and recovery."""

import pytest

from gateway.config.export import routing_yaml
from gateway.config.load import load_text
from gateway.config.schema import OnFirstByteLimit, Resume

FILE = """
version: 1
{top}
backends:
  - {{name: a, url: "http://h:1", served_name: m}}
models:
  - {{name: m, backends: [a]{model}}}
"""


def text(top: str = "", model: str = "") -> str:
    return FILE.format(top=top, model=model)


def test_defaults() -> None:
    config = load_text(text(), "r.yaml").config
    assert config is not None
    assert (config.health.canary, config.health.longest_step_s) == (True, 10.0)
    assert (config.recovery.max_attempts, config.recovery.max_wait_s) == (5, 15.0)
    model = config.models[0]
    assert (model.resume, model.heartbeat_s) == (Resume.TEXT, 15.0)
    assert model.on_first_byte_limit is OnFirstByteLimit.GIVE_UP


@pytest.mark.parametrize(
    ("written", "resume"),
    [
        ("off", "off"),
        ("no", "off"),
        ("OFF", "off"),
        ('"off"', "off"),
        ("false", "off"),
        ("text", "text"),
        ("exact", "exact"),
    ],
)
def test_resume_and_its_export(written: str, resume: str) -> None:
    config = load_text(text(model=f", resume: {written}"), "r.yaml").config
    assert config is not None
    assert config.models[0].resume == resume
    assert load_text(routing_yaml(config), "again.yaml").config == config


@pytest.mark.parametrize(
    ("top", "model", "line", "needle"),
    [
        ("health: {longest_step_s: 0}", "", 3, "greater than 0"),
        ("health: {breaker_failures: 0}", "", 3, "greater than 0"),
        ("health: {cannary: false}", "", 3, "canary"),
        ("health: {canary: 1}", "", 3, "true or false"),
        ('health: {canary: "no"}', "", 3, "true or false"),
        ("health: {canary_idle_s: 0}", "", 3, "greater than 0"),
        ("health: {breaker_failures: 1.5}", "", 3, "whole number"),
        ("health: {breaker_open_s: .inf}", "", 3, "finite"),
        ("health: {ramp_s: -0.1}", "", 3, "0 or greater"),
        ("health: {ramp_s: .nan}", "", 3, "finite"),
        ("health: []", "", 3, "mapping"),
        ("health: true", "", 3, "mapping"),
        ("recovery: {max_attempts: 0}", "", 3, "greater than 0"),
        ("recovery: {retry_budget_ratio: -0.1}", "", 3, "0 or greater"),
        ("recovery: {retry_burst: 0}", "", 3, "greater than 0"),
        ("recovery: {max_atempts: 2}", "", 3, "max_attempts"),
        ('recovery: {max_wait_s: "5"}', "", 3, "a number"),
        ("recovery: {retry_budget_ratio: 2}", "", 3, "1.0 or less"),
        ("recovery: {max_wait_s: -1}", "", 3, "0 or greater"),
        ("", ", resume: maybe", 7, "off, text, exact"),
        ("", ", resume: on", 7, "off, text, exact"),
        ("", ", resume: 0", 7, "off, text, exact"),
        ("", ", resume: texts", 7, "'text'"),
        ("", ", on_first_byte_limit: off", 7, "give_up, move"),
        ("", ", heartbeat_s: .inf", 7, "finite"),
        ("", ", on_first_byte_limit: retry", 7, "give_up, move"),
        ("", ", heartbeat_s: -1", 7, "0 or greater"),
    ],
)
def test_wrong_values_are_told_with_place_and_remedy(
    top: str, model: str, line: int, needle: str
) -> None:
    loaded = load_text(text(top, model), "r.yaml")
    assert loaded.config is None
    (problem,) = [p for p in loaded.problems if p.severity == "error"]
    assert problem.line == line
    assert problem.message
    assert problem.remedy
    assert needle in f"{problem.message} {problem.remedy}"


WRITTEN = """
version: 1
health:
  canary: false
  canary_idle_s: 30
  longest_step_s: 20.5
  breaker_failures: 1
  breaker_open_s: 0.5
  ramp_s: 0
recovery: {max_attempts: 1, retry_budget_ratio: 0, retry_burst: 1, max_wait_s: 0}
backends:
  - {name: a, url: "http://h:1", served_name: m, longest_step_s: 3}
models:
  - {name: m, backends: [a], resume: off, on_first_byte_limit: move, heartbeat_s: 0}
"""


def test_every_field_is_read_and_written_as_it_was() -> None:
    loaded = load_text(WRITTEN, "r.yaml")
    assert loaded.config is not None, loaded.render()
    health, recovery, model = (
        loaded.config.health,
        loaded.config.recovery,
        loaded.config.models[0],
    )
    assert health.model_dump() == {
        "canary": False,
        "canary_idle_s": 30.0,
        "longest_step_s": 20.5,
        "breaker_failures": 1,
        "breaker_open_s": 0.5,
        "ramp_s": 0.0,
    }
    assert recovery.model_dump() == {
        "max_attempts": 1,
        "retry_budget_ratio": 0.0,
        "retry_burst": 1,
        "max_wait_s": 0.0,
    }
    assert (model.resume, model.heartbeat_s) == (Resume.OFF, 0.0)
    assert model.on_first_byte_limit is OnFirstByteLimit.MOVE
    assert loaded.config.backends[0].longest_step_s == 3.0
    again = load_text(routing_yaml(loaded.config), "again.yaml")
    assert (again.config, again.version_hash) == (loaded.config, loaded.version_hash)


def test_what_has_its_default_is_not_written() -> None:
    config = load_text(text("health: {canary: true}", ", resume: text"), "r.yaml").config
    assert config is not None
    written = routing_yaml(config)
    assert all(name not in written for name in ("canary", "recovery", "resume", "heartbeat_s"))
