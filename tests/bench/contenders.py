"""Who is compared: this gateway, vllm-router with several policies, and nginx."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import yaml

from tests.bench import fleet, nginx
from tests.bench.fleet import HOST, Member
from tests.bench.peers import Tools

GATEWAY_PROBE_S: Final = 5.0
SCRAPE_S: Final = 1.0
ROUTER_POLL_S: Final = 30.0
"""Of vllm-router: how often it asks for loads, by the option named after the check at start."""
ROUTER_HEALTH_S: Final = 60.0
ROUTER_EVICTION_S: Final = 120.0


class Kind(StrEnum):
    """Whose program it is."""

    GATEWAY = "gateway"
    VLLM_ROUTER = "vllm-router"
    NGINX = "nginx"


@dataclass(frozen=True, slots=True)
class Contender:
    """One program with one policy (None: it has but one)."""

    kind: Kind
    policy: str | None = None

    @property
    def name(self) -> str:
        return self.kind if self.policy is None else f"{self.kind} {self.policy}"


@dataclass(frozen=True, slots=True)
class Site:
    """Where a contender listens, what it finds, and how fast time runs."""

    port: int
    metrics_port: int
    members: Sequence[Member]
    scale: float
    folder: Path


GATEWAY: Final = Contender(Kind.GATEWAY)
CONTENDERS: Final = (
    GATEWAY,
    Contender(Kind.VLLM_ROUTER, "round_robin"),
    Contender(Kind.VLLM_ROUTER, "power_of_two"),
    Contender(Kind.VLLM_ROUTER, "cache_aware"),
    Contender(Kind.NGINX, "round_robin"),
    Contender(Kind.NGINX, "least_conn"),
)


def command(contender: Contender, site: Site, tools: Tools) -> list[str]:
    """The command that starts a contender; its files are written to the site's folder."""
    if contender.kind is Kind.GATEWAY:
        return _gateway(site)
    assert contender.policy is not None
    if contender.kind is Kind.NGINX:
        return _nginx(contender.policy, site, tools)
    return _vllm_router(contender.policy, site, tools)


def _gateway(site: Site) -> list[str]:
    file = site.folder / "routing.yaml"
    file.write_text(yaml.safe_dump(fleet.routing_file(site.members, site.scale)))
    probe_s = GATEWAY_PROBE_S / site.scale
    return [
        *fleet.COMMAND,
        *("serve", "--config-file", str(file), "--host", HOST, "--port", str(site.port)),
        *("--scrape-interval-s", f"{SCRAPE_S / site.scale:.4g}"),
        *("--probe-interval-s", f"{probe_s:.4g}", "--no-access-log", "--log-level", "warning"),
    ]


def _vllm_router(policy: str, site: Site, tools: Tools) -> list[str]:
    return [
        *(str(tools.vllm_router), "--host", HOST, "--port", str(site.port)),
        *("--worker-urls", *(member.url for member in site.members)),
        *("--policy", policy, "--log-level", "warning"),
        *("--prometheus-host", HOST, "--prometheus-port", str(site.metrics_port)),
        *("--worker-startup-check-interval", _whole(ROUTER_POLL_S / site.scale)),
        *("--health-check-interval-secs", _whole(ROUTER_HEALTH_S / site.scale)),
        *("--eviction-interval-secs", _whole(ROUTER_EVICTION_S / site.scale)),
    ]


def _nginx(policy: str, site: Site, tools: Tools) -> list[str]:
    file = site.folder / "nginx.conf"
    addresses = [f"{HOST}:{member.port}" for member in site.members]
    file.write_text(nginx.configuration(policy, site.port, addresses, site.folder))
    return [str(tools.nginx), "-p", str(site.folder), "-c", str(file), "-e", "stderr"]


def _whole(seconds: float) -> str:
    """Whole seconds, the least that vllm-router takes being one."""
    return str(max(1, round(seconds)))
