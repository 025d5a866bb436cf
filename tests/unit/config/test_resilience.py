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
    [("off", "off"), ('"off"', "off"), ("false", "off"), ("text", "text"), ("exact", "exact")],
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
        ("recovery: {retry_budget_ratio: 2}", "", 3, "1.0 or less"),
        ("recovery: {max_wait_s: -1}", "", 3, "0 or greater"),
        ("", ", resume: maybe", 7, "off, text, exact"),
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
    assert needle in f"{problem.message} {problem.remedy}"
