"""One container of a pod: its variables, command, NPUs, ports and mounts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.containers.cluster_objects import ClusterObject, Pod
from gateway.adoption.containers.devices import npus_of
from gateway.adoption.containers.interpolation import expand_references
from gateway.adoption.containers.manifest import Path, Tree
from gateway.adoption.containers.noticed import noticed
from gateway.adoption.containers.trees import at, is_on, items, mapping, text, texts, whole
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Mount

_RESOURCE: Final = re.compile(
    r"^huawei\.com/(Ascend[0-9A-Za-z]*|npu)(?:-\d+c(?:\.\d+cpu)?(?:\.[\w.]+)?)?$", re.IGNORECASE
)
_SHELLS: Final = frozenset({"bash", "sh", "dash", "ash"})


@dataclass(frozen=True, slots=True)
class PodContainer:
    """What one container of a pod says.

    `argv` is its command and arguments, `script` the one that a ConfigMap of the same source puts
    in their place, () for none.
    """

    environment: Mapping[str, str]
    argv: tuple[str, ...]
    script: tuple[str, ...]
    npus: tuple[int, ...] | None
    npus_wanted: int
    chip: str
    mounts: tuple[Mount, ...]
    text_line: int
    findings: tuple[Finding, ...]


def read_pod_container(
    pod: Pod, tree: Tree, path: Path, name: str, objects: Sequence[ClusterObject]
) -> PodContainer:
    """The container at `path`; `objects` are searched for ConfigMaps. Never raises.

    (Kubernetes API, Container v1; the resource names are those of the Ascend device plugin.)
    """
    origin = pod.owner.origin(path)
    maps = _config_maps(pod, objects)
    findings: list[Finding] = []
    variables = _variables(tree, maps, name, origin, findings)
    known = MappingProxyType({key: v for key, v in variables.items() if v is not None})
    words: list[str] = []
    unset: dict[str, None] = {}
    for word in (*texts(at(tree, "command")), *texts(at(tree, "args"))):
        expanded, without = expand_references(word, variables)
        words.append(expanded)
        unset.update(dict.fromkeys(without))
    findings += [noticed(Code.VARIABLE_UNSET, origin, variable=variable) for variable in unset]
    wanted, chip = _wanted(tree)
    mounts = tuple(_mounts(pod, tree))
    npus = npus_of(
        (mount.source for mount in mounts if mount.source.startswith("/dev/davinci")),
        known,
        is_privileged=is_on(at(tree, "securityContext", "privileged")),
    )
    return PodContainer(
        environment=known,
        argv=tuple(words),
        script=_mounted_script(words, _mounted_files(pod, tree, maps)),
        npus=npus.numbers,
        npus_wanted=wanted,
        chip=chip,
        mounts=mounts,
        text_line=_text_line(pod, tree, path),
        findings=tuple(findings),
    )


def _config_maps(pod: Pod, objects: Sequence[ClusterObject]) -> Mapping[str, Mapping[str, Tree]]:
    return {
        one.name: mapping(one.tree.get("data"))
        for one in objects
        if one.kind == "ConfigMap" and one.namespace in ("", pod.owner.namespace)
    }


def _variables(
    tree: Tree,
    maps: Mapping[str, Mapping[str, Tree]],
    name: str,
    origin: Origin,
    findings: list[Finding],
) -> dict[str, str | None]:
    """The variables in their order, None for those whose value stands elsewhere."""
    found: dict[str, str | None] = {}
    for item in items(at(tree, "envFrom")):
        config, secret = text(at(item, "configMapRef", "name")), text(at(item, "secretRef", "name"))
        prefix = text(at(item, "prefix"))
        if config in maps:
            found.update({prefix + k: v for k, v in maps[config].items() if isinstance(v, str)})
        elif config or secret:
            source = f"configmap/{config}" if config else f"secret/{secret}"
            findings.append(noticed(Code.ENV_FILE_UNREAD, origin, container=name, source=source))
    for item in items(at(tree, "env")):
        key = text(at(item, "name"))
        given = at(item, "value")
        if at(item, "valueFrom") is not None:
            reference = at(item, "valueFrom", "configMapKeyRef")
            kept = maps.get(text(at(reference, "name")), {}).get(text(at(reference, "key")))
            found[key] = kept if isinstance(kept, str) else None
        elif key:
            found[key] = expand_references(text(given), found)[0]
    return found


def _wanted(tree: Tree) -> tuple[int, str]:
    """How many NPUs the scheduler is asked for, and of which kind."""
    for kind in ("limits", "requests"):
        for key, value in mapping(at(tree, "resources", kind)).items():
            if (match := _RESOURCE.match(key)) and (count := whole(value, 0)):
                return count, match[1] if match[1].lower() != "npu" else ""
    return 0, ""


def _mounts(pod: Pod, tree: Tree) -> Iterator[Mount]:
    """What of the machine or of a claim the container sees."""
    sources = {
        text(at(volume, "name")): text(at(volume, "hostPath", "path"))
        or text(at(volume, "persistentVolumeClaim", "claimName"))
        for volume in items(pod.spec.get("volumes"))
    }
    for mount in items(at(tree, "volumeMounts")):
        source = sources.get(text(at(mount, "name")), "")
        sub_path = text(at(mount, "subPath"))
        target = text(at(mount, "mountPath"))
        if source and target:
            yield Mount(f"{source.rstrip('/')}/{sub_path}" if sub_path else source, target)


def _mounted_files(pod: Pod, tree: Tree, maps: Mapping[str, Mapping[str, Tree]]) -> dict[str, str]:
    """The files that ConfigMaps put into the container."""
    volumes = {
        text(at(volume, "name")): at(volume, "configMap")
        for volume in items(pod.spec.get("volumes"))
    }
    found: dict[str, str] = {}
    for mount in items(at(tree, "volumeMounts")):
        volume = volumes.get(text(at(mount, "name")))
        data = maps.get(text(at(volume, "name")), {})
        paths = {
            text(at(item, "path")): text(at(item, "key")) for item in items(at(volume, "items"))
        }
        folder, sub_path = text(at(mount, "mountPath")), text(at(mount, "subPath"))
        for path, key in (paths or {key: key for key in data}).items():
            content = data.get(key)
            if not isinstance(content, str):
                continue
            if not sub_path:
                found[f"{folder.rstrip('/')}/{path}"] = content
            elif sub_path == path:
                found[folder] = content
    return found


def _mounted_script(words: Sequence[str], files: Mapping[str, str]) -> tuple[str, ...]:
    """`bash /scripts/start.sh ARGUMENTS` as `bash -c TEXT ...`, if a ConfigMap holds the script."""
    start = 0
    if words and words[0].rpartition("/")[2] in _SHELLS:
        start = next((i for i, word in enumerate(words) if i and not word.startswith("-")), 0)
    if start >= len(words) or any("c" in word for word in words[1:start]):
        return ()
    content = files.get(words[start])
    return ("bash", "-c", content, *words[start:]) if content is not None else ()


def _text_line(pod: Pod, tree: Tree, path: Path) -> int:
    """Where the command begins, or the script within it."""
    document = pod.owner.document
    for key in ("args", "command"):
        for index, item in enumerate(items(at(tree, key))):
            if document.is_block((*path, key, index)) or "\n" in text(item):
                return document.text_line((*path, key, index))
    for key in ("command", "args"):
        if texts(at(tree, key)):
            return document.text_line((*path, key))
    return 0
