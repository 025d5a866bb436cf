"""All rules, in the order in which people read what they find."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.findings import Finding
from gateway.adoption.rules import (
    capture,
    containers,
    devices,
    exposure,
    hybrid,
    network,
    options,
    running,
    together,
    weights,
)
from gateway.adoption.rules.chip_untold import RULES_310P, chip_untold
from gateway.adoption.rules.container_names import container_names
from gateway.adoption.rules.device_list import read_devices
from gateway.adoption.rules.lone_logs import lone_logs
from gateway.adoption.rules.rule import FleetRule, Rule
from gateway.adoption.sources import Container

OF_CONTAINER: Final[tuple[Rule, ...]] = (
    devices.npu_list_cut,
    devices.npu_not_mounted,
    containers.not_the_main_process,
    containers.image_not_pinned,
)
"""What a container shows even without the engine that is to run in it."""

OF_BACKEND: Final[tuple[Rule, ...]] = (
    *OF_CONTAINER,
    devices.npu_none_mounted,
    devices.npu_variable_ignored,
    devices.tensor_parallel_mismatch,
    containers.model_not_mounted,
    containers.log_lost,
    network.port_published,
    network.loopback,
    exposure.no_api_key,
    exposure.local_media_open,
    exposure.dev_mode_open,
    exposure.kept_when_dead,
    exposure.keep_alive_short,
    exposure.names_not_checked,
    exposure.metrics_off,
    capture.eager_beside_graph,
    capture.seqs_above_capture,
    capture.seqs_off_grid,
    capture.capture_unreachable,
    capture.capture_off_step,
    capture.capture_max_disagrees,
    capture.launch_blocking,
    *RULES_310P,
    chip_untold,
    hybrid.mamba_mode,
    hybrid.align_without_chunks,
    hybrid.prefix_hits_zero,
    weights.long_context,
    weights.sharded_weights,
    options.batched_tokens_too_few,
    options.served_name_missing,
    options.tool_option_alone,
    options.reasoning_unparsed,
    options.alloc_conf_conflict,
    options.data_parallel_inside,
    options.old_entry_point,
    running.runs_eager,
    running.capture_differs,
    running.capture_truncated,
    running.kv_below_batch,
    running.name_missing,
    running.version_differs,
)
"""What one backend shows."""

OF_FLEET_AND_CONTAINERS: Final[tuple[FleetRule, ...]] = (
    together.npu_shared,
    container_names,
)
"""What backends, and containers without an engine, show side by side."""

OF_FLEET: Final[tuple[FleetRule, ...]] = (
    lone_logs,
    together.address_twice,
    together.listener_shared_inside,
    together.hccl_ports_shared,
    together.metrics_shared,
    together.served_name_shared,
    together.names_differ_in_case,
)
"""What backends show side by side, and what is left over."""


def traps_of(fleet: Fleet) -> tuple[Finding, ...]:
    """Every trap in a fleet: backend by backend, then what is between them.

    Containers in which no engine was found are looked at, too, if they are meant for one; and logs
    that belong to no backend.
    """
    return tuple(_traps(fleet))


def _traps(fleet: Fleet) -> Iterator[Finding]:
    lone = tuple(_alone(container, fleet) for container in fleet.containers if _has_use(container))
    for candidate in fleet.candidates:
        for rule in OF_BACKEND:
            yield from rule(candidate)
    for candidate in lone:
        for rule in OF_CONTAINER:
            yield from rule(candidate)
    with_lone = replace(fleet, candidates=(*fleet.candidates, *lone))
    for rule_of_all in OF_FLEET_AND_CONTAINERS:
        yield from rule_of_all(with_lone)
    for fleet_rule in OF_FLEET:
        yield from fleet_rule(fleet)


def _has_use(container: Container) -> bool:
    """Whether a container is meant for an engine: it gets NPUs, or its image is one of vLLM."""
    has_npus = container.npus is None or bool(container.npus) or container.npus_wanted > 0
    return has_npus or devices.VISIBLE in container.environment or "vllm" in container.image


def _alone(container: Container, fleet: Fleet) -> Candidate:
    """A container as a backend of which nothing else is known, on the machine of the others."""
    text = container.environment.get(devices.VISIBLE)
    beside = (c.host for c in fleet.candidates if c.container and not c.container.address)
    return Candidate(
        name="",
        container=container,
        environment=container.environment,
        host=next(beside, "127.0.0.1"),
        node=container.node,
        visible_npus=None if text is None else read_devices(text).meant,
        origins=(container.origin,),
    )
