"""The scenarios: a fleet, what comes in, and how much of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from gateway.emulator.presets import preset
from gateway.emulator.spec import EngineSpec
from tests.sim.conversations import agents, chat
from tests.sim.independent import azure, heavy_tail, memory_hungry, mooncake
from tests.sim.load import bursts, steady, stretched
from tests.sim.requests import Draft, SimRequest, complete

Fleet = tuple[EngineSpec, ...]
Drafting = Callable[[int, int, Random], list[Draft]]
Shape = Callable[[float, float], float]

GRAPH: Final = preset("310p-9b-graph")
EAGER: Final = preset("310p-9b-eager")
A2: Final = preset("a2-9b")


def slower(spec: EngineSpec, factor: float) -> EngineSpec:
    """The same engine on a card that takes `factor` times as long for everything."""
    costs = spec.costs
    return replace(
        spec,
        costs=replace(
            costs,
            graph_base_s=costs.graph_base_s * factor,
            graph_slope_s=costs.graph_slope_s * factor,
            eager_base_s=costs.eager_base_s * factor,
            eager_slope_s=costs.eager_slope_s * factor,
            prefill_tokens_per_s=costs.prefill_tokens_per_s / factor,
        ),
    )


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is simulated. `scale` multiplies the requests of a run on fast fleets."""

    name: str
    fleet: Fleet
    drafting: Drafting
    load: float
    shape: Shape = steady
    scale: int = 1


@dataclass(frozen=True, slots=True)
class Workload:
    """One run's fleet and requests, in order of arrival."""

    scenario: str
    seed: int
    fleet: Fleet
    requests: tuple[SimRequest, ...]


def _chat_fleet(max_num_seqs: int = 8) -> Fleet:
    return tuple(replace(spec, max_num_seqs=max_num_seqs) for spec in (GRAPH, GRAPH, EAGER))


_FULL = replace(GRAPH, capture_sizes=(1, 2, 4, 8))
_WEAK = replace(GRAPH, costs=replace(GRAPH.costs, eager_base_s=0.080))
_MOONCAKE = replace(GRAPH, block_size=512)

SCENARIOS: Final[Mapping[str, Scenario]] = {
    scenario.name: scenario
    for scenario in (
        Scenario("chat", _chat_fleet(), chat, 0.75),
        Scenario("burst", _chat_fleet(), chat, 0.65, bursts),
        Scenario("heavy_tail", (GRAPH,) * 3, heavy_tail, 0.70),
        Scenario("azure", (GRAPH, GRAPH, GRAPH, EAGER), azure, 0.75),
        Scenario("mooncake", (_MOONCAKE,) * 4, mooncake, 0.75),
        Scenario("agents", (GRAPH,) * 4, agents, 0.75),
        Scenario("one_slow", (GRAPH, GRAPH, slower(GRAPH, 2.5)), chat, 0.70),
        Scenario("full_capture", (_FULL,) * 3, chat, 0.75),
        Scenario("seqs4_chat", _chat_fleet(max_num_seqs=4), chat, 0.75),
        Scenario("seqs4_mooncake", (replace(_MOONCAKE, max_num_seqs=4),) * 4, mooncake, 0.75),
        Scenario("weak_cliff", (_WEAK,) * 3, chat, 0.75),
        Scenario("a2_chat", (A2,) * 4, chat, 0.50, scale=4),
        Scenario("a2_agents", (A2,) * 4, agents, 0.50, scale=4),
        Scenario("kv_tight_a2", (replace(A2, kv_tokens=60_000),) * 4, memory_hungry, 0.45, scale=3),
        Scenario("kv_tight_310p", (replace(GRAPH, kv_tokens=40_000),) * 2, memory_hungry, 0.60),
    )
}
"""Scenarios by name."""


def build(name: str, seed: int, requests: int = 500, load: float | None = None) -> Workload:
    """The workload of a scenario; `load` instead of the scenario's own. ValueError if unknown."""
    scenario = SCENARIOS.get(name)
    if scenario is None:
        raise ValueError(f"there is no scenario {name!r}; use one of {', '.join(SCENARIOS)}")
    # Loads of one scenario share their requests, so that only the time differs.
    rng = Random(f"{scenario.drafting.__name__}/{seed}")
    block_tokens = scenario.fleet[0].block_size
    drafts = scenario.drafting(requests * scenario.scale, block_tokens, rng)
    plain = complete(drafts, block_tokens, rng)
    wanted = scenario.load if load is None else load
    timed = stretched(plain, scenario.fleet, wanted, scenario.shape)
    return Workload(name, seed, scenario.fleet, tuple(timed))
