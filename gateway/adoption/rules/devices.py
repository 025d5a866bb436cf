"""Rules: the NPUs that a backend is given are those that it can use."""

from collections.abc import Iterator
from typing import Final

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.rules.device_list import read_devices
from gateway.adoption.rules.reading import joined, tensor_parallel_of
from gateway.adoption.rules.rule import at_container, at_launch, found

VISIBLE: Final = "ASCEND_RT_VISIBLE_DEVICES"
MOUNTED: Final = "ASCEND_VISIBLE_DEVICES"
_NOT_READ: Final = (MOUNTED, "NPU_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


def npu_not_mounted(candidate: Candidate) -> Iterator[Finding]:
    """What is made visible was mounted; with plain --device, ids inside keep the host's numbers."""
    container = candidate.container
    if container is None or not container.npus:
        return
    missing = [npu for npu in candidate.visible_npus or () if npu not in container.npus]
    if missing:
        yield found(
            Code.NPU_NOT_MOUNTED,
            candidate,
            at_container(candidate),
            visible=joined(candidate.visible_npus or ()),
            mounted=joined(container.npus),
            missing=joined(missing),
            container=container.name,
        )


def npu_none_mounted(candidate: Candidate) -> Iterator[Finding]:
    """A container that is to run an engine gets at least one NPU."""
    container = candidate.container
    if container is None or container.npus is None or container.npus or container.npus_wanted:
        return
    if MOUNTED not in container.environment:
        yield found(
            Code.NPU_NONE_MOUNTED, candidate, at_container(candidate), container=container.name
        )


def npu_list_cut(candidate: Candidate) -> Iterator[Finding]:
    """The list of devices is written so that CANN reads all of it."""
    text = candidate.environment.get(VISIBLE)
    if text is None:
        return
    devices = read_devices(text)
    if devices.meant and devices.meant != devices.read:
        yield found(
            Code.NPU_LIST_CUT,
            candidate,
            _where_set(candidate, VISIBLE),
            text=text,
            read=joined(devices.read),
            right=",".join(map(str, sorted(set(devices.meant)))),
        )


def npu_variable_ignored(candidate: Candidate) -> Iterator[Finding]:
    """Devices are chosen with the variable that CANN reads.

    ASCEND_VISIBLE_DEVICES is read by the container runtime, so in a container's own environment it
    has a meaning; in front of a command it has none.
    """
    launch = candidate.launch
    if launch is None or VISIBLE in candidate.environment:
        return
    of_container = candidate.container.environment if candidate.container else {}
    for variable in _NOT_READ:
        if variable in launch.environment and variable not in of_container:
            yield found(
                Code.NPU_VARIABLE_IGNORED,
                candidate,
                launch.origin,
                variable=variable,
                value=launch.environment[variable],
            )
            return


def tensor_parallel_mismatch(candidate: Candidate) -> Iterator[Finding]:
    """As many NPUs as the ranks need, and none that lies idle though it was set apart."""
    needed = _ranks(candidate)
    container = candidate.container
    if needed is None:
        return
    if candidate.visible_npus is not None:
        has, may_have_more = len(set(candidate.visible_npus)), False
    elif container is not None and container.npus:
        has, may_have_more = len(set(container.npus)), True
    elif container is not None and container.npus_wanted:
        has, may_have_more = container.npus_wanted, False
    else:
        return
    if has < needed or (has > needed and not may_have_more):
        yield found(
            Code.TENSOR_PARALLEL_MISMATCH,
            candidate,
            at_launch(candidate),
            needed=needed,
            npus=has,
        )


def _ranks(candidate: Candidate) -> int | None:
    """NPUs that the engine takes here; None where they are spread over machines or not told."""
    arguments = candidate.arguments
    width = tensor_parallel_of(candidate)
    if arguments is None or width is None or (arguments.nodes or 1) > 1:
        return None
    is_rank = arguments.is_data_parallel_external or arguments.data_parallel_rank is not None
    replicas = arguments.data_parallel_local or arguments.data_parallel or 1
    pipeline = arguments.pipeline_parallel or 1
    context = arguments.prefill_context_parallel or 1
    return width * pipeline * context * (1 if is_rank else replicas)


def _where_set(candidate: Candidate, variable: str) -> Origin:
    """The launch, unless it has the variable from its container."""
    launch, container = candidate.launch, candidate.container
    value = candidate.environment.get(variable)
    if container is not None and container.environment.get(variable) == value:
        return container.origin
    return launch.origin if launch else candidate.origin
