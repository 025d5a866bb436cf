"""The Helm chart, rendered by Helm itself."""

import subprocess
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import pytest
import yaml

from scripts.get_helm import NoHelmError, helm
from tests.deploy.gateway_tools import DEPLOY

CHART: Final = DEPLOY / "helm" / "ascend-gateway"
REFERENCE: Final = ("-f", str(CHART / "values-reference-fleet.yaml"))
NAME: Final = "llm-ascend-gateway"

Document = dict[str, Any]


def run_helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The finished command; skips the test where no Helm can be had."""
    try:
        program = helm()
    except NoHelmError as error:
        pytest.skip(str(error))
    return subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@cache
def _text(arguments: tuple[str, ...]) -> str:
    done = run_helm("template", "llm", str(CHART), "--namespace", "serving", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rendered(*arguments: str) -> list[Document]:
    """All documents of the chart with these values."""
    return [document for document in yaml.safe_load_all(_text(arguments)) if document]


def setting(**values: object) -> tuple[str, ...]:
    """Values as options of Helm; two underscores stand for a dot."""
    pairs = [f"{name.replace('__', '.')}={value}" for name, value in values.items()]
    return tuple(word for pair in pairs for word in ("--set", pair))


CASES: Final[Mapping[str, tuple[str, ...]]] = {
    "defaults": (),
    "reference fleet": REFERENCE,
    "own keys": setting(auth__clientKeys="{app=secret-1}", auth__adminKeys="{ops=secret-2}"),
    "open": setting(auth__allowOpen="true", auth__existingSecret=""),
    "redis": setting(redis__enabled="true", workers=2, replicaCount=3),
    "redis kept": setting(
        redis__enabled="true", redis__auth__password="abc", redis__persistence__enabled="true"
    ),
    "sentinel": setting(
        store__url=r"redis+sentinel://a:26379\,b:26379/mymaster", networkPolicy__enabled="true"
    ),
    "store secret": setting(store__existingSecret="store", backendKeysSecret="engines"),
    "growing": setting(autoscaling__enabled="true", serviceMonitor__enabled="true"),
    "ingress": setting(ingress__enabled="true"),
    "state": setting(state__persistence__enabled="true"),
    "node port": setting(service__type="NodePort", service__nodePort=30080),
    "everything": (
        *REFERENCE,
        *setting(
            redis__enabled="true",
            networkPolicy__enabled="true",
            autoscaling__enabled="true",
            serviceMonitor__enabled="true",
            ingress__enabled="true",
            state__persistence__enabled="true",
            settings__max_body_bytes=67108864,
        ),
    ),
}


def kinds(documents: list[Document]) -> set[str]:
    return {document["kind"] for document in documents}


def one(documents: list[Document], kind: str, name: str = "") -> Document:
    """The only document of a kind (and name)."""
    (found,) = [
        document
        for document in documents
        if document["kind"] == kind and document["metadata"]["name"].startswith(name)
    ]
    return found


def pod(documents: list[Document]) -> Document:
    """The pod template of the gateway."""
    template: Document = one(documents, "Deployment")["spec"]["template"]
    return template


def container(documents: list[Document]) -> Document:
    """The gateway's container."""
    (found,) = pod(documents)["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def environment(documents: list[Document]) -> dict[str, str]:
    """What the gateway's settings are made of; what a Secret holds is a placeholder."""
    found = {}
    for entry in container(documents)["env"]:
        found[entry["name"]] = entry.get("value", "from-a-secret")
    return found
