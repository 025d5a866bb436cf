"""All rules that concern more than one field, in one list."""

from collections.abc import Callable, Iterable
from typing import Final

from gateway.config import capture, conflicts, containers, engine, names, references, timeouts
from gateway.config.draft import Draft
from gateway.config.problems import Finding

Rule = Callable[[Draft], Iterable[Finding]]

RULES: Final[tuple[Rule, ...]] = (
    conflicts.backend_name_twice,
    conflicts.npu_twice,
    conflicts.npu_shared,
    conflicts.address_twice,
    engine.tensor_parallel_mismatch,
    engine.batched_tokens_too_few,
    engine.key_given_twice,
    engine.tls_options,
    engine.roots_differ,
    engine.limit_above_context,
    capture.capture_rules,
    containers.container_misleads,
    names.name_collision,
    names.names_differ_in_case,
    references.backend_references,
    references.has_backends,
    references.fallbacks,
    references.default_model,
    references.backend_unused,
    references.nothing_served,
    timeouts.timeout_rules,
)


def check(draft: Draft) -> list[Finding]:
    """What the rules find in a draft."""
    return [finding for rule in RULES for finding in rule(draft)]
