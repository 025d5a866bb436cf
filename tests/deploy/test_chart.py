"""The Helm chart renders to what Kubernetes accepts and the gateway understands."""

from pathlib import PurePosixPath

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from gateway.config.load import load_file, load_text
from gateway.settings import Settings, unknown_variables
from tests.deploy.chart import (
    CASES,
    CHART,
    NAME,
    REFERENCE,
    container,
    environment,
    kinds,
    one,
    pod,
    rendered,
    run_helm,
    setting,
)
from tests.deploy.gateway_tools import ROOT

VERSIONS = ("1.25", "1.37")


@pytest.mark.parametrize("values", [(), REFERENCE], ids=["defaults", "reference fleet"])
def test_helm_lint_is_content(values: tuple[str, ...]) -> None:
    done = run_helm("lint", "--strict", str(CHART), *values)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", CASES)
def test_kubernetes_knows_every_field(case: str, version: str) -> None:
    documents = rendered(*CASES[case])
    names = [(d["kind"], d["metadata"]["name"]) for d in documents]
    assert len(names) == len(set(names))
    for document in documents:
        if document["kind"] != "ServiceMonitor":
            kubernetes_validate.validate(document, version, strict=True)


@pytest.mark.parametrize("case", CASES)
def test_the_gateway_understands_its_settings(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = rendered(*CASES[case])
    for name, value in environment(documents).items():
        monkeypatch.setenv(name, value)
    assert unknown_variables(environment(documents)) == ()
    settings = Settings()
    spec = pod(documents)["spec"]
    mounts = {mount["mountPath"]: mount for mount in container(documents)["volumeMounts"]}
    assert str(PurePosixPath(str(settings.config_file)).parent) in mounts
    assert str(settings.state_dir) in mounts
    assert not [mount for mount in mounts.values() if "subPath" in mount]
    needed = settings.drain_grace_s + settings.drain_s + 3
    assert spec["terminationGracePeriodSeconds"] > needed
    assert settings.drain_grace_s > 0
    volumes = {volume["name"] for volume in spec["volumes"]}
    assert {mount["name"] for mount in mounts.values()} == volumes


@pytest.mark.parametrize("case", CASES)
def test_the_routing_file_can_be_used(case: str) -> None:
    text = one(rendered(*CASES[case]), "ConfigMap")["data"]["routing.yaml"]
    loaded = load_text(text, "routing.yaml")
    assert loaded.errors == (), loaded.render()


def test_the_reference_fleet_is_that_of_the_examples() -> None:
    text = one(rendered(*REFERENCE), "ConfigMap")["data"]["routing.yaml"]
    known = load_file(ROOT / "config" / "reference-fleet.yaml")
    assert load_text(text, "routing.yaml").version_hash == known.version_hash


def test_the_chart_is_of_the_version_of_the_project() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{chart["appVersion"]}"\n' in project


def test_a_new_routing_file_restarts_nothing_and_new_keys_do() -> None:
    before = rendered(*CASES["own keys"])
    other = rendered(*CASES["own keys"], *REFERENCE, *setting(drain__seconds=120))
    assert one(other, "ConfigMap") != one(before, "ConfigMap")
    aliases = pod(other)["spec"].pop("hostAliases")
    assert aliases
    assert pod(other) == pod(before)
    keys = rendered(*setting(auth__clientKeys="{app=other}", auth__adminKeys="{ops=secret-2}"))
    assert pod(keys)["metadata"]["annotations"] != pod(before)["metadata"]["annotations"]


def test_the_pod_is_locked_and_asked_the_right_questions() -> None:
    documents = rendered()
    deployment = one(documents, "Deployment")["spec"]
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    spec, made = pod(documents)["spec"], container(documents)
    assert spec["automountServiceAccountToken"] is False
    assert one(documents, "ServiceAccount")["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsUser"] == 10001
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert made["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    probes = [made[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe")]
    assert probes == ["/livez", "/livez"]
    assert made["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert spec["topologySpreadConstraints"]
    assert made["resources"]["requests"]


def test_selectors_choose_the_gateway_and_never_the_store_or_the_test() -> None:
    documents = rendered(*CASES["everything"])
    labels = pod(documents)["metadata"]["labels"]
    redis = one(documents, "StatefulSet")["spec"]["template"]["metadata"]["labels"]
    test = one(documents, "Pod")["metadata"]["labels"]

    def chosen(selector: dict[str, str]) -> list[bool]:
        return [selector.items() <= some.items() for some in (labels, redis, test)]

    gateway, store = [True, False, False], [False, True, False]
    assert chosen(one(documents, "Deployment")["spec"]["selector"]["matchLabels"]) == gateway
    assert chosen(one(documents, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"]) == (
        gateway
    )
    for document in documents:
        is_store = document["metadata"]["name"].endswith("-redis")
        expected = store if is_store else gateway
        if document["kind"] == "Service":
            assert chosen(document["spec"]["selector"]) == expected
        if document["kind"] == "NetworkPolicy":
            assert chosen(document["spec"]["podSelector"]["matchLabels"]) == expected
        if document["kind"] == "ServiceMonitor":
            # It looks for Services by their labels.
            service = one(documents, "Service", NAME + "-redis")["metadata"]["labels"]
            wanted = document["spec"]["selector"]["matchLabels"]
            assert not wanted.items() <= service.items()


def test_each_switch_brings_its_own_and_nothing_else() -> None:
    plain = kinds(rendered())
    assert plain == {
        "ConfigMap",
        "Deployment",
        "Pod",
        "PodDisruptionBudget",
        "Service",
        "ServiceAccount",
    }
    for case, brought in (
        ("redis", {"StatefulSet"}),
        ("growing", {"HorizontalPodAutoscaler", "ServiceMonitor"}),
        ("ingress", {"Ingress"}),
        ("state", {"PersistentVolumeClaim"}),
        ("own keys", {"Secret"}),
        ("sentinel", {"NetworkPolicy"}),
    ):
        assert kinds(rendered(*CASES[case])) - plain == brought, case
    assert "replicas" not in one(rendered(*CASES["growing"]), "Deployment")["spec"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (setting(auth__existingSecret=""), "no client keys"),
        (setting(workers=2), "need a store"),
        (setting(redis__enabled="true", store__url="redis://r:6379"), "keep one"),
        (
            setting(redis__enabled="true", redis__auth__existingSecret=""),
            "redis.auth.existingSecret",
        ),
        (
            setting(
                replicaCount=2,
                state__persistence__enabled="true",
                state__persistence__accessModes="{ReadWriteOnce}",
            ),
            "ReadWriteMany",
        ),
        (setting(settings__drain_s=10), "value of its own"),
        (setting(replicas=2), "replicas"),
        (setting(store__url="http://r"), "url"),
        (setting(store__namespace="a/b"), "namespace"),
    ],
)
def test_what_can_not_work_is_refused(values: tuple[str, ...], said: str) -> None:
    done = run_helm("template", "llm", str(CHART), *values)
    assert done.returncode != 0
    assert said in done.stderr
