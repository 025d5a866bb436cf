"""Alerts and dashboard use metrics that exist, and can be read by Prometheus and Grafana."""

import json
import re
from collections.abc import Iterator

import pytest
import yaml

from tests.deploy.gateway_tools import DEPLOY, ROOT, passes, tool

DASHBOARD = DEPLOY / "grafana" / "dashboards" / "ascend-gateway.json"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"


def documented_metrics() -> set[str]:
    text = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    found: set[str] = set()
    for name, kind in re.findall(r"^\| `(gateway_\w+)` \| (\w+) \|", text, re.MULTILINE):
        parts = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        found |= {name + part for part in parts}
    assert found
    return found


def expressions() -> Iterator[tuple[str, str]]:
    for group in yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]
    for annotation in dashboard["annotations"]["list"]:
        yield annotation["name"], annotation["expr"]


def test_alerts_and_dashboard_use_only_metrics_that_exist() -> None:
    known = documented_metrics()
    unknown = {
        (where, name)
        for where, expression in expressions()
        for name in re.findall(r"\bgateway_\w+", expression)
        if name not in known
    }
    assert not unknown


def test_every_expression_can_be_parsed() -> None:
    parser = pytest.importorskip("promql_parser", reason="pip install promql-parser")
    for where, expression in expressions():
        if expression.startswith("label_values("):
            continue
        plain = expression.replace("$__rate_interval", "5m")
        try:
            parser.parse(plain)
        except ValueError as error:
            pytest.fail(f"{where}: {error}")


def test_promtool_accepts_config_and_rules() -> None:
    passes(tool("promtool"), "check", "config", DEPLOY / "prometheus" / "prometheus.yml")


def test_every_alert_says_how_bad_and_what() -> None:
    rules = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]
    assert len({rule["alert"] for rule in rules}) == len(rules) > 10
    for rule in rules:
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert rule["annotations"]["summary"]


def test_the_dashboard_is_complete_and_its_panels_do_not_overlap() -> None:
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        spot = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(spot["x"], spot["x"] + spot["w"])
            for y in range(spot["y"], spot["y"] + spot["h"])
        }
        assert not cells & taken, panel["title"]
        assert all(x < 24 for x, _ in cells), panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    source = DEPLOY / "grafana" / "provisioning" / "datasources" / "prometheus.yaml"
    uid = yaml.safe_load(source.read_text(encoding="utf-8"))["datasources"][0]["uid"]
    assert dashboard["templating"]["list"][0]["current"]["value"] == uid
