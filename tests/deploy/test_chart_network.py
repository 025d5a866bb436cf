"""What the Helm chart lets in and out, and how the gateway is found."""

from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from gateway.config.load import load_text
from gateway.settings import is_loopback
from tests.deploy.chart import (
    CASES,
    NAME,
    REFERENCE,
    container,
    environment,
    one,
    pod,
    rendered,
    setting,
)


def test_the_service_monitor_is_one() -> None:
    monitor = one(rendered(*CASES["growing"]), "ServiceMonitor")
    assert monitor["apiVersion"] == "monitoring.coreos.com/v1"
    assert set(monitor["spec"]) == {"selector", "endpoints"}
    (endpoint,) = monitor["spec"]["endpoints"]
    ports = one(rendered(), "Service")["spec"]["ports"]
    assert endpoint["port"] in [port["name"] for port in ports]
    assert endpoint["path"] == "/metrics"


def test_streams_pass_the_ingress() -> None:
    annotations = one(rendered(*CASES["ingress"]), "Ingress")["metadata"]["annotations"]
    prefix = "nginx.ingress.kubernetes.io/"
    assert annotations[prefix + "proxy-buffering"] == "off"
    assert int(annotations[prefix + "proxy-read-timeout"]) >= 600


def allows(rule: dict[str, Any], address: str, port: int) -> bool:
    """Whether an egress rule by address lets a connection out."""
    blocks = [entry["ipBlock"]["cidr"] for entry in rule.get("to", []) if "ipBlock" in entry]
    is_there = any(ip_address(address) in ip_network(block) for block in blocks)
    return is_there and port in [entry["port"] for entry in rule["ports"]]


def test_the_policy_of_the_reference_fleet_lets_it_reach_its_engines() -> None:
    documents = rendered(*REFERENCE)
    config = load_text(one(documents, "ConfigMap")["data"]["routing.yaml"], "r").config
    assert config is not None
    aliases = {n: a["ip"] for a in pod(documents)["spec"]["hostAliases"] for n in a["hostnames"]}
    rules = one(documents, "NetworkPolicy")["spec"]["egress"]
    urls = [urlsplit(str(backend.url)) for backend in config.backends if backend.enabled]
    reached = [url for url in urls if not is_loopback(url.hostname or "")]
    assert reached
    for url in reached:
        assert any(allows(rule, aliases[url.hostname or ""], url.port or 0) for rule in rules)


def test_the_store_of_the_chart_is_reached_by_gateways_only() -> None:
    documents = rendered(*CASES["redis"], *setting(networkPolicy__enabled="true"))
    assert f"@{NAME}-redis:6379" in environment(documents)["ASCEND_GATEWAY_STORE_URL"]
    names = [entry["name"] for entry in container(documents)["env"]]
    # $(REDIS_PASSWORD) is only filled in by what stands before it.
    assert names.index("REDIS_PASSWORD") < names.index("ASCEND_GATEWAY_STORE_URL")
    policy = one(documents, "NetworkPolicy", NAME + "-redis")["spec"]
    (entry,) = policy["ingress"]
    assert entry["from"][0]["podSelector"]["matchLabels"].items() <= (
        pod(documents)["metadata"]["labels"].items()
    )
