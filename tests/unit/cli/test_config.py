import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli.config import config
from gateway.config.export import routing_schema

GOOD = """version: 1
backends:
- {name: 9b-graph, url: "http://h:1/pre/v1/", served_name: q, max_num_seqs: 4, capture_sizes: [4]}
- {name: "off", url: "http://[::1]:2", served_name: q, tier: eager, enabled: false}
models:
- {name: m, aliases: [n], backends: [9b-graph], fallback_models: [o]}
- {name: o, backends: [9b-graph]}
"""
WARNS = GOOD.replace("max_num_seqs: 4", "max_num_seqs: 8")
WRONG = WARNS.replace("[o]", "[p]")


def run(tmp_path: Path, text: str, *options: str):
    file = tmp_path / "routes.yaml"
    file.write_text(text, encoding="utf-8")
    return CliRunner().invoke(config, ["check", str(file), *options])


@pytest.mark.parametrize(
    ("text", "options", "status"),
    [
        (GOOD, [], 0),
        (GOOD, ["--strict"], 0),
        (WARNS, [], 0),
        (WARNS, ["--strict"], 1),
        (WRONG, [], 1),
        (WRONG, ["--format", "json"], 1),
        ("", [], 1),
    ],
)
def test_exit_status(tmp_path, text, options, status):
    result = run(tmp_path, text, *options)
    assert result.exit_code == status, result.output


def test_a_file_that_can_not_be_read(tmp_path):
    result = CliRunner().invoke(config, ["check", str(tmp_path / "nothing")])
    assert result.exit_code == 2
    assert "nothing: can't be read: No such file" in result.output


def test_text_shows_problems_and_effective_addresses(tmp_path):
    lines = run(tmp_path, WARNS).output.splitlines()
    assert lines[0].startswith(f"{tmp_path}/routes.yaml:3: warning: backends[0].max_num_seqs: ")
    shown = [" ".join(line.split()) for line in lines]
    assert (
        "9b-graph http://h:1/pre/v1/chat/completions served as q tier graph cap 4 (hard limit 8)"
    ) in shown
    assert (
        "off http://[::1]:2/v1/chat/completions served as q tier eager cap 256 disabled"
    ) in shown
    assert "model m: 9b-graph; also called n; then o" in shown
    assert lines[-1].endswith("ok, 0 errors, 1 warning")


def test_text_of_a_refused_file(tmp_path):
    output = run(tmp_path, WRONG).output
    assert "error: models[0].fallback_models[0]: there is no model 'p'" in output
    assert output.rstrip().endswith("not usable, 1 error, 1 warning")
    assert "http://h:1/pre" not in output


def test_json(tmp_path):
    report = json.loads(run(tmp_path, WARNS, "--format", "json").output)
    assert report["ok"] is True
    assert [p["code"] for p in report["problems"]] == ["seqs_above_capture"]
    assert report["backends"][0] == {
        "name": "9b-graph",
        "base_url": "http://h:1/pre",
        "served_name": "q",
        "tier": "graph",
        "cap": 4,
        "hard_limit": 8,
        "enabled": True,
        "account": None,
    }
    refused = json.loads(run(tmp_path, WRONG, "--format", "json").output)
    assert (refused["ok"], refused["backends"]) == (False, [])


def test_schema():
    result = CliRunner().invoke(config, ["schema"])
    assert result.exit_code == 0
    assert json.loads(result.output) == routing_schema()
