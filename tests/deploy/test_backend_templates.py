"""The templates of the engines: no trap in them, the facts of the reference fleet, and valid."""

import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from gateway.adoption.codes import Code
from gateway.adoption.draft import fields_of
from gateway.adoption.telling import severity_of, told
from gateway.adoption.texts import Severity
from gateway.config.load import load_file, load_text
from gateway.words import Language
from tests.deploy.engine_templates import (
    BACKENDS,
    COMPOSE,
    ENGINE,
    HOSTS,
    KINDS,
    KUBERNETES,
    NAMES,
    adopted,
    by_name,
    printed,
    sources_of,
    words_of,
)
from tests.deploy.gateway_tools import ROOT, passes, run, tool

_FLEET: Final = load_file(ROOT / "config" / "reference-fleet.yaml").config
assert _FLEET is not None
REFERENCE: Final = {backend.name: backend for backend in _FLEET.backends}
# Where a template is not as the fleet was found; docs/backends.md has the reasons.
CHANGED: Final[Mapping[str, Mapping[str, Any]]] = {
    "9b": {"max_num_seqs": 4},
    "27b": {"max_num_seqs": 4},
    "8b": {"max_num_seqs": 8, "capture_sizes": (1, 8)},
    "2b": {"max_num_seqs": 16, "served_name": "qwen3.5-2b"},
    "9b-eager": {},
}
FACTS: Final = (
    "served_name",
    "root",
    "tier",
    "npus",
    "chip",
    "tensor_parallel",
    "max_num_seqs",
    "capture_sizes",
    "max_model_len",
)
# Guesses that only say that a command line does not know its own machine.
HARMLESS: Final = {Code.HOST_ASSUMED}


def facts(kind: str) -> dict[str, dict[str, Any]]:
    """What the routing file of a template says, by the name of the backend."""
    found = {}
    for name, candidate in by_name(adopted(sources_of(kind)).candidates).items():
        fields = fields_of(candidate)
        fields.setdefault("tier", "graph")
        found[name] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
        }
    return found


def expected(name: str) -> dict[str, Any]:
    backend = REFERENCE[name]
    as_found = {fact: getattr(backend, fact) for fact in FACTS}
    as_found |= CHANGED[name]
    return {k: v.value if hasattr(v, "value") else v for k, v in as_found.items() if v is not None}


@pytest.mark.parametrize("kind", KINDS)
def test_adopt_finds_no_trap_in_a_template(kind: str) -> None:
    findings = adopted(sources_of(kind)).findings
    bad = [
        told(finding, Language.EN)
        for finding in findings
        if severity_of(finding) is not Severity.NOTE and finding.code not in HARMLESS
    ]
    assert bad == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_adopt_writes_passes_the_check(kind: str) -> None:
    loaded = load_text(adopted(sources_of(kind)).routing_file, kind)
    assert loaded.problems == (), loaded.render()
    assert loaded.config is not None
    assert all(backend.enabled for backend in loaded.config.backends)


@pytest.mark.parametrize("kind", KINDS)
def test_a_template_has_the_facts_of_the_reference_fleet(kind: str) -> None:
    found = facts(kind)
    assert found
    for name, fields in found.items():
        wanted = expected(name)
        if kind == "kubernetes":
            # Which NPUs a pod gets is the device plugin's choice.
            wanted.pop("npus")
        wanted = {key: value for key, value in wanted.items() if value not in ((), None)}
        assert {key: fields.get(key) for key in wanted} == wanted
        if kind != "kubernetes":
            port = str(REFERENCE[name].url).rpartition(":")[2].strip("/")
            assert fields["url"].endswith(f":{port}")


def test_all_forms_cover_the_fleet() -> None:
    assert {name for kind in KINDS if kind.startswith("docker") for name in facts(kind)} == {*NAMES}
    assert {name for kind in KINDS if kind.startswith("compose") for name in facts(kind)} == {
        *NAMES
    }
    # The 8b is there instead of the 27b.
    assert {*facts("kubernetes")} == {*NAMES} - {"8b"}
    assert {*REFERENCE} == {*NAMES}


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_engine_takes_as_many_as_its_largest_graph(kind: str) -> None:
    for fields in facts(kind).values():
        if fields["tier"] == "graph":
            assert fields["max_num_seqs"] == max(fields["capture_sizes"])
        else:
            assert "capture_sizes" not in fields


def test_the_options_are_the_same_in_all_forms() -> None:
    def options(words: list[str]) -> Counter[str]:
        return Counter(words[words.index("serve", words.index("-c")) + 1 :])

    printed_ones = {name: options(shlex.split(printed(name))) for name in NAMES}
    services = {
        name: service
        for file in COMPOSE
        for name, service in yaml.safe_load(file.read_text(encoding="utf-8"))["services"].items()
    }
    assert {name: options(words_of(service)) for name, service in services.items()} == printed_ones
    pods = {
        document["metadata"]["name"].removeprefix("vllm-"): document["spec"]["template"]["spec"]
        for document in manifests()
        if document["kind"] == "Deployment"
    }
    for name, pod in pods.items():
        assert options(words_of(pod["containers"][0])) == printed_ones[name]


def manifests() -> list[dict[str, Any]]:
    return [*yaml.safe_load_all(KUBERNETES.read_text(encoding="utf-8"))]


def test_no_npu_of_a_host_has_two_engines_but_the_one_of_which_one_runs() -> None:
    taken: Counter[tuple[str, int]] = Counter()
    for name in NAMES:
        if name != "8b":
            taken.update((HOSTS[name], npu) for npu in facts(f"docker {name}")[name]["npus"])
    assert set(taken.values()) == {1}


def test_adopt_says_that_8b_and_27b_can_not_run_together() -> None:
    both = adopted(sources_of("docker 27b") | sources_of("docker 8b"))
    assert {Code.NPU_SHARED, Code.ADDRESS_TWICE} <= {finding.code for finding in both.findings}


@pytest.mark.parametrize("version", ["1.25", "1.37"])
def test_kubernetes_knows_every_field(version: str) -> None:
    for document in manifests():
        kubernetes_validate.validate(document, version, strict=True)


def test_pods_ask_for_as_many_npus_as_work_together() -> None:
    for document in manifests():
        if document["kind"] == "Deployment":
            (container,) = document["spec"]["template"]["spec"]["containers"]
            words = words_of(container)
            assert words[2].endswith('; exec vllm serve "$@"')
            width = words[words.index("--tensor-parallel-size") + 1]
            for part in ("requests", "limits"):
                assert container["resources"][part]["huawei.com/Ascend310P"] == width
            assert document["spec"]["strategy"] == {"type": "Recreate"}
            probe = container["livenessProbe"]
            assert probe["exec"]["command"][-1].endswith("one_token.py")
            assert probe["timeoutSeconds"] == 50


@pytest.mark.parametrize("file", COMPOSE, ids=lambda file: str(file.name))
def test_compose_knows_every_field(file: Path) -> None:
    passes(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", file)


@pytest.mark.parametrize("file", COMPOSE, ids=lambda file: str(file.name))
def test_compose_starts_the_server_itself_again(file: Path) -> None:
    services = yaml.safe_load(file.read_text(encoding="utf-8"))["services"]
    for name, service in services.items():
        assert service["container_name"] == name
        assert service["restart"] == "unless-stopped"
        assert service["command"][2].rstrip().endswith('exec vllm serve "$$@"')
        assert service["healthcheck"]["test"][-1].endswith("one_token.py")
        assert service["logging"]["options"]["max-file"]
        assert "privileged" not in service


def test_shellcheck_finds_nothing() -> None:
    scripts = (ENGINE, BACKENDS / "restart-unhealthy.sh", *(BACKENDS / "env").glob("*.env"))
    passes(tool("shellcheck"), *scripts)


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    checker = tool("systemd-analyze")
    program = tmp_path / "program"
    program.touch(mode=0o755)
    copies = []
    for unit in sorted((BACKENDS / "systemd").iterdir()):
        text = unit.read_text(encoding="utf-8")
        for path in ("/opt/vllm/engine.sh", "/opt/vllm/restart-unhealthy.sh", "/usr/bin/docker"):
            text = text.replace(path, str(program))
        copies.append(tmp_path / unit.name)
        copies[-1].write_text(text, encoding="utf-8")
    # Docker's own unit is missing where docker is.
    (tmp_path / "docker.service").write_text("[Service]\nExecStart=/bin/true\n", encoding="utf-8")
    done = run(checker, "verify", "--man=no", *copies, env={"SYSTEMD_UNIT_PATH": f"{tmp_path}:"})
    ours = [line for line in done.stdout.splitlines() if "vllm" in line]
    assert (done.returncode, ours) == (0, [])
