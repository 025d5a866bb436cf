"""What each kind of problem means, how bad it is, and what to do; the reference pages are this."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.config import kinds_backends, kinds_models, kinds_values
from gateway.config.codes import Code
from gateway.config.kind import Kind

KINDS: Final[Mapping[Code, Kind]] = MappingProxyType(
    {**kinds_values.KINDS, **kinds_backends.KINDS, **kinds_models.KINDS}
)
"""Every code has one."""
