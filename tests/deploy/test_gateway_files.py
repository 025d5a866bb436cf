"""The files that deploy the gateway are valid, fit each other, and hold no secret."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.settings import ENV_PREFIX, Settings
from tests.deploy.gateway_tools import DEPLOY, ROOT, passes, run, tool

COMPOSE = DEPLOY / "compose" / "compose.yaml"
DOCKERFILES = (DEPLOY / "docker" / "Dockerfile", DEPLOY / "docker" / "Dockerfile.openeuler")
UNITS = tuple(sorted((DEPLOY / "systemd").glob("*.service")))
# The other YAML file in config/ describes emulated servers.
ROUTING = (
    *(file for file in sorted((ROOT / "config").glob("*.yaml")) if "emulated" not in file.name),
    DEPLOY / "compose" / "config" / "routing.yaml",
)
SECONDS_OF_LAST_WORDS = 3.0


def compose() -> dict[str, Any]:
    """The compose file as compose sees it without a .env file."""
    text = COMPOSE.read_text(encoding="utf-8")
    plain = re.sub(r"(?<!\$)\$\{\w+:-([^}]*)\}", r"\1", text)
    loaded: dict[str, Any] = yaml.safe_load(plain)
    return loaded


def gateways() -> dict[str, dict[str, Any]]:
    return {name: one for name, one in compose()["services"].items() if name.startswith("gateway")}


def own(name: object) -> bool:
    return str(name).startswith(ENV_PREFIX)


def by_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lasting(drain_s: float, grace_s: float) -> float:
    """The longest that a gateway may take to end."""
    return drain_s + grace_s + SECONDS_OF_LAST_WORDS


# Images.


@pytest.mark.parametrize("file", DOCKERFILES, ids=by_name)
def test_hadolint_finds_nothing_in_the_dockerfile(file: Path) -> None:
    passes(tool("hadolint"), "--failure-threshold", "style", file)


@pytest.mark.parametrize("file", DOCKERFILES, ids=by_name)
def test_the_image_is_built_as_promised(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    last = text[text.rindex("\nFROM ") :]
    assert "\nUSER 10001:10001\n" in last
    assert '\nENTRYPOINT ["ascend-gateway"]\n' in last
    assert "\nSTOPSIGNAL SIGTERM\n" in last
    assert "PYTHONDONTWRITEBYTECODE=1" in last
    assert '\nVOLUME ["/var/lib/ascend-gateway"]\n' in last
    assert re.search(r"^ARG BASE_IMAGE=[\w./-]+:[\w.-]+$", text, re.MULTILINE)
    # What only BuildKit knows fails with the builders of older distributions.
    for word in ("RUN --", "COPY --chmod", "<<", "# syntax", "--platform=", "x86_64", "aarch64"):
        assert word not in "\n".join(x for x in text.splitlines() if not x.startswith("# ")), word


@pytest.mark.parametrize("file", DOCKERFILES, ids=by_name)
def test_what_the_image_copies_is_let_through_to_the_builder(file: Path) -> None:
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for line in re.findall(r"^COPY (?!--from)(.+) \S+$", file.read_text(encoding="utf-8"), re.M):
        for part in line.split():
            assert f"!{part.removeprefix('./')}" in allowed
            assert (ROOT / part).exists()


def test_variables_of_images_and_units_are_settings() -> None:
    known = {f"{ENV_PREFIX}{name}".upper() for name in Settings.model_fields}
    for file in (*DOCKERFILES, *UNITS, COMPOSE, DEPLOY / "systemd" / "ascend-gateway.env"):
        named = set(re.findall(rf"{ENV_PREFIX}[A-Z_]+", file.read_text(encoding="utf-8")))
        assert named, file
        assert named <= known, file


# Compose.


def test_the_compose_file_keeps_to_the_compose_specification() -> None:
    passes(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", COMPOSE)


def test_what_the_compose_file_names_exists() -> None:
    whole = compose()
    for name, service in whole["services"].items():
        for kind in ("networks", "secrets"):
            assert set(service.get(kind, [])) <= set(whole[kind]), name
        assert set(service.get("depends_on", [])) <= set(whole["services"]), name
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            there = (COMPOSE.parent / source).exists()
            assert there if source.startswith(".") else source in whole["volumes"], volume
    used = {one for service in whole["services"].values() for one in service.get("secrets", [])}
    assert used == set(whole["secrets"])


@pytest.mark.parametrize("name", sorted(compose()["services"]))
def test_every_container_is_locked_down(name: str) -> None:
    service = compose()["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "mem_limit" in service
    # The gateway's check comes with its image.
    assert "healthcheck" in service or name.startswith("gateway-")


def test_docker_waits_longer_than_a_gateway_drains() -> None:
    assert len(gateways()) == 2
    for service in gateways().values():
        env = service["environment"]
        needed = lasting(
            float(env[f"{ENV_PREFIX}DRAIN_S"]), float(env[f"{ENV_PREFIX}DRAIN_GRACE_S"])
        )
        assert float(service["stop_grace_period"].removesuffix("s")) > needed
        balancer = float(compose()["services"]["haproxy"]["stop_grace_period"].removesuffix("s"))
        assert balancer > needed


def test_prometheus_asks_every_gateway() -> None:
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    targets = config["scrape_configs"][0]["static_configs"][0]["targets"]
    assert targets == [f"{name}:8000" for name in gateways()]
    assert config["scrape_configs"][0]["job_name"] == "ascend-gateway"
    assert config["rule_files"] == ["alerts.yml"]


def test_the_balancer_knows_every_gateway_and_notices_before_the_grace_ends() -> None:
    text = (DEPLOY / "compose" / "haproxy.cfg").read_text(encoding="utf-8")
    servers = re.findall(r"^  server (\S+) (\S+)$", text, re.MULTILINE)
    assert servers == [(name, f"{name}:8000") for name in gateways()]
    check = re.search(r"check inter (\d+)s fall (\d+)", text)
    assert check is not None
    grace = float(next(iter(gateways().values()))["environment"][f"{ENV_PREFIX}DRAIN_GRACE_S"])
    assert int(check[1]) * (int(check[2]) + 1) < grace
    assert "uri /readyz" in text


# systemd.


@pytest.mark.parametrize("unit", UNITS, ids=by_name)
def test_systemd_accepts_the_unit(unit: Path, tmp_path: Path) -> None:
    checker = tool("systemd-analyze")
    text = unit.read_text(encoding="utf-8")
    program = tmp_path / "ascend-gateway"
    program.touch(mode=0o755)
    assert "ExecStart=/opt/ascend-gateway/bin/ascend-gateway serve\n" in text
    copy = tmp_path / unit.name
    copy.write_text(text.replace("/opt/ascend-gateway/bin/ascend-gateway", str(program)))
    done = run(checker, "verify", "--man=no", copy)
    # A misspelt option is only a warning for systemd.
    told = [line for line in done.stdout.splitlines() if unit.name in line]
    assert (done.returncode, told) == (0, [])


@pytest.mark.parametrize("unit", UNITS, ids=by_name)
def test_systemd_waits_longer_than_the_gateway_drains(unit: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    limit = re.search(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    assert limit is not None
    # 10 s of grace is what docs and the env file propose behind a load balancer.
    assert float(limit[1]) > lasting(float(Settings.model_fields["drain_s"].default), 10.0)
    assert "\nKillSignal=SIGTERM\n" in text
    assert "\nExecReload=/bin/kill -HUP $MAINPID\n" in text


# Routing files.


@pytest.mark.parametrize("file", ROUTING, ids=by_name)
def test_every_routing_file_that_is_shipped_can_be_used(file: Path) -> None:
    passes(tool("ascend-gateway"), "config", "check", file)
