"""Making a finding while a source is read."""

from collections.abc import Iterable
from types import MappingProxyType

from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding, Origin


def noticed(code: Code, origin: Origin, **values: object) -> Finding:
    """A finding of no backend yet; `values` fill its text."""
    return Finding(
        code, origin, MappingProxyType({name: str(value) for name, value in values.items()})
    )


def once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in their order, each one once."""
    seen = {(f.code, f.origin, tuple(f.values.items()), f.backend): f for f in findings}
    return tuple(seen.values())
