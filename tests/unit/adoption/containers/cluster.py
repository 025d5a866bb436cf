"""Manifests of Kubernetes to read, and the reading of them."""

from textwrap import dedent, indent

from gateway.adoption.containers.kubernetes import read_kubernetes
from gateway.adoption.containers.manifest import read_documents
from gateway.adoption.sources import Container, Sighting


def seen(text: str) -> Sighting:
    documents, errors = read_documents(dedent(text))
    assert errors == ()
    return read_kubernetes(documents, "k.yaml")


def pod(fields: str, spec: str = "{}") -> str:
    """A pod with one container, and more fields of its specification."""
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {app: q}}\n"
        f"x: &spec {spec}\nspec:\n  <<: *spec\n  containers:\n"
        "  - name: c\n    image: vllm\n" + indent(dedent(fields), "    ") + "\n"
    )


def container(fields: str, spec: str = "{}") -> Container:
    return seen(pod(fields, spec)).containers[0]


def workload(kind: str, spec: str, name: str = "w", namespace: str = "") -> str:
    metadata = f"{{name: {name}{', namespace: ' + namespace if namespace else ''}}}"
    return f"apiVersion: x/v1\nkind: {kind}\nmetadata: {metadata}\nspec:\n" + indent(
        dedent(spec) + "\n", "  "
    )


TEMPLATE = (
    "template:\n  metadata: {labels: {app: q}}\n  spec:\n    containers:\n"
    "    - {name: c, image: vllm, command: [vllm, serve, /m],"
    " ports: [{name: http, containerPort: 8000}]}\n"
)


def service(spec: str, name: str = "s", namespace: str = "") -> str:
    return "---\n" + workload("Service", spec, name, namespace)
