"""The fast engine gives the times, caches and preemptions of the emulator's engine."""

from dataclasses import replace
from random import Random

import pytest

from gateway.emulator.presets import preset
from gateway.emulator.spec import EngineSpec
from tests.sim.conversations import block_hashes
from tests.sim.dispatch import known_fleet
from tests.sim.fast_engine import FastStation
from tests.sim.peers import CentralCapture, LeastInflight, RoundRobin
from tests.sim.requests import Draft, complete
from tests.sim.stations import StepStation
from tests.sim.workload import Workload, build
from tests.sim.world import Outcome, StationMaker, World


def random_spec(rng: Random) -> EngineSpec:
    """An engine that is often short of places, memory or both."""
    block = rng.choice((4, 16, 32))
    return replace(
        preset("310p-9b-graph"),
        capture_sizes=rng.choice(((), (1, 4), (1, 2, 4, 8))),
        max_num_seqs=rng.choice((2, 4, 8)),
        max_num_batched_tokens=rng.choice((64, 256, 2048)),
        kv_tokens=block * (2 + rng.choice((620, 620, 2400)) // block),
        block_size=block,
        enable_prefix_caching=rng.random() < 0.8,
    )


def random_workload(seed: int) -> Workload:
    """A few requests of which some continue others, also before those have finished."""
    rng = Random(seed)
    spec = random_spec(rng)
    size = spec.block_size
    lengths = [0] * 6
    at = 0.0
    drafts: list[Draft] = []
    for _ in range(40):
        at += rng.expovariate(rng.choice((1.0, 5.0, 20.0)))
        session = rng.randrange(6)
        if lengths[session] > 350 or rng.random() < 0.2:
            session = len(lengths)
            lengths.append(0)
        prompt = lengths[session] + rng.randint(1, 120)
        output = rng.choice((1, 2, rng.randint(1, 40), rng.randint(1, 130)))
        lengths[session] = prompt + output
        hashes = block_hashes(prompt + output, size, 1000 + session, 1, 48)
        drafts.append(Draft(at, prompt, output, f"s{session}", "t", hashes))
    requests = complete(drafts, size, rng)
    return Workload(f"random{seed}", seed, (spec, spec), tuple(requests))


def outcome(workload: Workload, maker: type[RoundRobin], station: StationMaker) -> Outcome:
    stations = [station(spec) for spec in workload.fleet]
    dispatcher = maker(known_fleet(workload.fleet, workload.seed))
    found = World(workload, stations, dispatcher).run()
    for at_end in stations:
        assert at_end.engine.idle
        assert at_end.engine.kv.free_blocks == at_end.engine.kv.usable_blocks
    return found


def assert_same(workload: Workload, maker: type) -> int:
    """Compare both engines; returns the preemptions."""
    exact = outcome(workload, maker, StepStation)
    fast = outcome(workload, maker, FastStation)
    for one, other in zip(exact.records, fast.records, strict=True):
        assert other.backend == one.backend
        assert other.preemptions == one.preemptions
        assert other.first_token == pytest.approx(one.first_token, abs=1e-6)
        assert other.finished == pytest.approx(one.finished, abs=1e-6)
    assert fast.events <= exact.events
    return sum(record.preemptions for record in exact.records)


def test_the_same_times_for_random_small_workloads() -> None:
    preempted = [assert_same(random_workload(seed), RoundRobin) for seed in range(60)]
    assert sum(1 for count in preempted if count) > 10, "too few of them are short of memory"


@pytest.mark.parametrize("seed", [1436, 1547])
def test_a_head_of_the_queue_that_loses_its_cache_needs_less_room(seed: int) -> None:
    assert_same(random_workload(seed), RoundRobin)
    assert_same(random_workload(seed), LeastInflight)


def test_the_same_times_when_placement_follows_the_answers() -> None:
    for seed in range(100, 115):
        assert_same(random_workload(seed), LeastInflight)
        assert_same(random_workload(seed), CentralCapture)


@pytest.mark.parametrize("name", ["chat", "mooncake", "kv_tight_310p"])
def test_the_same_times_in_scenarios(name: str) -> None:
    assert_same(build(name, 1, 60), LeastInflight)


def test_counters_and_caches_are_the_same() -> None:
    for seed in range(200, 215):
        workload = random_workload(seed)
        totals = []
        for station in (StepStation, FastStation):
            stations = [station(spec) for spec in workload.fleet]
            dispatcher = RoundRobin(known_fleet(workload.fleet, seed))
            World(workload, stations, dispatcher).run()
            totals.append([at_end.engine.totals for at_end in stations])
        assert totals[0] == totals[1]


def test_costs_of_context_are_left_to_single_steps() -> None:
    workload = random_workload(7)
    costs = replace(workload.fleet[0].costs, decode_context_s=1e-6, prefill_attention_s=1e-8)
    spec = replace(workload.fleet[0], costs=costs)
    assert_same(replace(workload, fleet=(spec, spec)), RoundRobin)
