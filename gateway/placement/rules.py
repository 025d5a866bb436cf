"""The rules by the names that the routing file gives them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.config.vocabulary import PlacementRule
from gateway.placement.marginal import LeastCost
from gateway.placement.rule import Rule
from gateway.placement.simple import LeastInflight, LeastKv, Prefix, RoundRobin, Weighted

_RULES: Final[Mapping[PlacementRule, Rule]] = MappingProxyType(
    {
        PlacementRule.LEAST_COST: LeastCost(),
        PlacementRule.ROUND_ROBIN: RoundRobin(),
        PlacementRule.LEAST_INFLIGHT: LeastInflight(),
        PlacementRule.LEAST_KV: LeastKv(),
        PlacementRule.PREFIX: Prefix(),
        PlacementRule.WEIGHTED: Weighted(),
    }
)


def rule_of(name: PlacementRule) -> Rule:
    """The rule of that name."""
    return _RULES[name]
