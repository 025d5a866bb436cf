"""The objects in Kubernetes manifests: lists taken apart, and the pods that they describe."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from gateway.adoption.containers.manifest import Document, Path, Tree
from gateway.adoption.containers.trees import at, items, mapping, text, whole
from gateway.adoption.findings import Origin

MAX_PODS: Final = 1000
MAX_REPLICAS: Final = 64

_NO_PODS: Final = frozenset({"status", "managedFields", "annotations"})
_TEMPLATE: Final = re.compile(r"Template$")
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_GROUP_LABEL: Final = "leaderworkerset.sigs.k8s.io/name"
_POD_LABEL: Final = "statefulset.kubernetes.io/pod-name"


@dataclass(frozen=True, slots=True)
class ClusterObject:
    """One object and where it stands."""

    kind: str
    name: str
    namespace: str
    tree: dict[str, Tree]
    file: str
    document: Document
    path: Path

    def origin(self, path: Path) -> Origin:
        """The place of a key or an item of the document."""
        return Origin(self.file, self.document.line(path))


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod, or the template of several: its name, labels and specification.

    `subdomain` is the headless service through which it has a host name of its own.
    """

    owner: ClusterObject
    name: str
    labels: Mapping[str, str]
    spec: dict[str, Tree]
    path: Path
    replicas: int = 1
    subdomain: str = ""


def is_cluster_object(tree: Tree) -> bool:
    """Whether a tree is an object of Kubernetes, or a list of them."""
    fields = mapping(tree)
    return bool(text(fields.get("kind"))) and ("apiVersion" in fields or "spec" in fields)


def objects_in(documents: Sequence[Document], file: str) -> tuple[ClusterObject, ...]:
    """All objects, those of lists too, without those that another of them has made."""
    found: list[ClusterObject] = []
    for document in documents:
        found += _objects(file, document, document.tree, ())
    there = {(one.kind, one.name) for one in found}
    return tuple(one for one in found if not any(owner in there for owner in _owners(one)))


def pods_in(objects: Sequence[ClusterObject]) -> tuple[Pod, ...]:
    """The pods of all objects, at most one more than MAX_PODS.

    They are found by their containers, wherever those stand, so custom resources with pod templates
    are read too. A StatefulSet gives every one of its pods a name, so each is a pod of its own.
    """
    found: list[Pod] = []
    for one in objects:
        pods = tuple(_pods(one, one.tree, _Below(one.path)))
        for pod in pods:
            named = pod if len(pods) > 1 else replace(pod, name=one.name)
            found += _numbered(named)
        if len(found) > MAX_PODS:
            break
    return tuple(found[: MAX_PODS + 1])


def _objects(file: str, document: Document, tree: Tree, path: Path) -> Iterator[ClusterObject]:
    fields = mapping(tree)
    kind = text(fields.get("kind"))
    if kind.endswith("List") and isinstance(fields.get("items"), list):
        for index, item in enumerate(items(fields["items"])):
            yield from _objects(file, document, item, (*path, "items", index))
        return
    if not kind:
        return
    metadata = fields.get("metadata")
    name = text(at(metadata, "name")) or text(at(metadata, "generateName")).rstrip("-")
    yield ClusterObject(kind, name, text(at(metadata, "namespace")), fields, file, document, path)


def _owners(one: ClusterObject) -> Iterator[tuple[str, str]]:
    for owner in items(at(one.tree.get("metadata"), "ownerReferences")):
        yield text(at(owner, "kind")), text(at(owner, "name"))


class _Below(NamedTuple):
    """What is known of the pods below a place: labels, how many, what they are called there."""

    path: Path
    labels: Mapping[str, str] = _NOTHING
    replicas: int = 1
    part: str = ""


def _pods(owner: ClusterObject, tree: Tree, below: _Below) -> Iterator[Pod]:
    path = below.path
    for index, item in enumerate(items(tree)):
        part = text(at(item, "name")) or str(index)
        yield from _pods(owner, item, below._replace(path=(*path, index), part=part))
    fields = mapping(tree)
    if any(isinstance(item, dict) for item in items(fields.get("containers"))):
        yield _pod(owner, fields, below)
        return
    replicas = whole(fields.get("replicas"), below.replicas)
    for key, value in fields.items():
        if key in _NO_PODS:
            continue
        labels = below.labels
        if key == "spec" and "metadata" in fields:
            labels = _texts_of(at(fields["metadata"], "labels"))
        part = _TEMPLATE.sub("", key) if key.endswith("Template") else below.part
        yield from _pods(owner, value, _Below((*path, key), labels, replicas, part))


def _pod(owner: ClusterObject, spec: dict[str, Tree], below: _Below) -> Pod:
    name = f"{owner.name}-{below.part}" if below.part else owner.name
    subdomain = text(spec.get("subdomain"))
    labels = dict(below.labels)
    if owner.kind == "StatefulSet":
        subdomain = text(at(owner.tree.get("spec"), "serviceName"))
    if owner.kind == "LeaderWorkerSet":
        labels[_GROUP_LABEL] = owner.name
    return Pod(owner, name, MappingProxyType(labels), spec, below.path, below.replicas, subdomain)


def _numbered(pod: Pod) -> Iterator[Pod]:
    if pod.owner.kind != "StatefulSet" or not 0 < pod.replicas <= MAX_REPLICAS:
        yield pod
        return
    first = whole(at(pod.owner.tree.get("spec"), "ordinals", "start"), 0)
    for number in range(first, first + pod.replicas):
        name = f"{pod.name}-{number}"
        labels = MappingProxyType({_POD_LABEL: name, **pod.labels})
        yield replace(pod, name=name, labels=labels, replicas=1)


def _texts_of(tree: Tree) -> dict[str, str]:
    return {key: value for key, value in mapping(tree).items() if isinstance(value, str)}
