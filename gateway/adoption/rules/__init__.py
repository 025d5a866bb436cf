"""Rules that look at adopted backends and name the traps in them."""

from gateway.adoption.rules.every import traps_of

__all__ = ["traps_of"]
