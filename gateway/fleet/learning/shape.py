"""What the routing file says of an engine's steps, and the speeds to begin with."""

from gateway.config.backend import BackendConfig
from gateway.config.capture import concurrency_cap
from gateway.config.timeouts import decode_speed
from gateway.config.vocabulary import Tier
from gateway.fleet.learning.decode import DecodeSpeed, Kin, Scale


def decode_for(config: BackendConfig, kin: Kin | None, scale: Scale | None) -> DecodeSpeed:
    """Nothing is learnt yet: the speeds that its chip and tier are known for."""
    _, limit = concurrency_cap(config)
    return DecodeSpeed(_sizes(config), limit, 1.0 / decode_speed(config), kin, scale)


def shape_of(config: BackendConfig) -> tuple[object, ...]:
    """What the steps of an engine depend on; what was learnt under another shape is void."""
    return (_sizes(config), concurrency_cap(config), decode_speed(config))


def _sizes(config: BackendConfig) -> tuple[int, ...] | None:
    """The captured sizes; () for an eager engine, None when nobody told."""
    if config.tier is Tier.EAGER:
        return ()
    return config.capture_sizes or None
