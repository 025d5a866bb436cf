"""Rule: a container's name says which model is in it, and no other.

How a name is read is that of the routing file's own rule; see `gateway.config.containers`.
"""

from collections.abc import Iterator

from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.reading import container_name
from gateway.adoption.rules.rule import at_container, found
from gateway.config.containers import misreading, read_model_name, short_name


def container_names(fleet: Fleet) -> Iterator[Finding]:
    """Each container's name reads as its own model; at least it names the size."""
    everybody = frozenset().union(*(_names(one) for one in fleet.candidates))
    for candidate in fleet.candidates:
        container = container_name(candidate)
        if not container:
            continue
        served, path = candidate.served_name, candidate.model_path or ""
        foreign = everybody - _names(candidate) - {short_name(path)}
        misread = misreading(container, served, path, foreign)
        if misread is not None and (served or path):
            yield found(
                Code.CONTAINER_MISLEADS,
                candidate,
                at_container(candidate),
                container=container,
                reads_as=misread.said,
                serves=served or path,
                better=f"vllm-ascend-{short_name(served or path)}",
            )
        elif misread is None and _lacks_size(candidate, container):
            serves = served or path
            yield found(
                Code.CONTAINER_WITHOUT_SIZE,
                candidate,
                at_container(candidate),
                container=container,
                better=f"vllm-ascend-{short_name(serves)}" if serves else f"{container}-9b",
            )


def _lacks_size(candidate: Candidate, container: str) -> bool:
    """Whether the name says a family and no size, though the model has one, or is not known."""
    said = read_model_name(container)
    names = " ".join((short_name(candidate.model_path or ""), *candidate.served_names))
    has_size = bool(read_model_name(names).sizes) or candidate.launch is None
    return bool(said.families) and not said.sizes and has_size


def _names(candidate: Candidate) -> frozenset[str]:
    return frozenset(short_name(name) for name in candidate.served_names)
