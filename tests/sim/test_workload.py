"""Workloads: the load is what was asked for, seeds decide everything, texts grow as they should."""

from statistics import fmean, pstdev

import pytest

from tests.sim.load import BURST_PERIOD_S, BURST_S, offered_load, uncached_tokens
from tests.sim.requests import LONGEST_OUTPUT, SimRequest
from tests.sim.workload import SCENARIOS, build

COUNT = 120


@pytest.mark.parametrize("name", SCENARIOS)
def test_arrivals_make_exactly_the_load(name: str) -> None:
    workload = build(name, seed=3, requests=COUNT)
    assert len(workload.requests) == COUNT * SCENARIOS[name].scale
    assert offered_load(workload.fleet, workload.requests) == pytest.approx(SCENARIOS[name].load)
    times = [request.arrival_s for request in workload.requests]
    assert times == sorted(times)
    assert times[0] >= 0


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_request_fits_into_every_engine(name: str) -> None:
    workload = build(name, seed=4, requests=COUNT)
    room = min(spec.largest_sequence_tokens for spec in workload.fleet)
    for request in workload.requests:
        assert request.prompt_tokens >= 1
        assert 1 <= request.output_tokens <= LONGEST_OUTPUT
        assert request.prompt_tokens + request.output_tokens <= room


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_seed_decides_everything(name: str) -> None:
    assert build(name, 5, COUNT) == build(name, 5, COUNT)
    assert build(name, 5, COUNT).requests != build(name, 6, COUNT).requests


def test_another_load_only_moves_the_arrivals() -> None:
    slow, fast = build("chat", 1, COUNT, load=0.3), build("chat", 1, COUNT, load=0.9)
    assert offered_load(slow.fleet, slow.requests) == pytest.approx(0.3)
    for one, other in zip(slow.requests, fast.requests, strict=True):
        assert one.at(0.0) == other.at(0.0)
        assert one.arrival_s == pytest.approx(3 * other.arrival_s)


def test_the_gateway_knows_neither_prompt_nor_output_exactly() -> None:
    requests = build("heavy_tail", 1, 500).requests
    errors = [r.known.prompt_tokens / r.prompt_tokens - 1 for r in requests if r.prompt_tokens > 99]
    assert abs(fmean(errors)) < 0.02
    assert 0.09 < pstdev(errors) < 0.15
    limited = [r for r in requests if r.known.max_tokens != LONGEST_OUTPUT]
    assert 0.4 < len(limited) / len(requests) < 0.6
    for request in requests:
        assert request.known.max_tokens >= request.output_tokens
    for request in limited:
        assert request.known.max_tokens < 2 * request.output_tokens
    assert not hasattr(requests[0].known, "output_tokens")


def test_a_turn_begins_with_the_turn_before_it_and_its_answer() -> None:
    last: dict[str, SimRequest] = {}
    continued = 0
    for request in build("chat", 2, 300).requests:
        before = last.get(request.known.session)
        if before is not None:
            assert request.prompt_tokens > before.prompt_tokens + before.output_tokens
            assert request.hashes[: len(before.hashes)] == before.hashes
            continued += 1
        assert request.known.prefix == request.hashes[: request.prompt_tokens // 128]
        last[request.known.session] = request
    assert continued > 150


def test_sessions_of_an_application_share_their_beginning() -> None:
    requests = build("agents", 1, 300).requests
    roots = {request.hashes[0] for request in requests}
    assert len(roots) <= 6
    assert len({request.known.session for request in requests}) > 3 * len(roots)
    prompts = sum(request.prompt_tokens for request in requests)
    assert sum(uncached_tokens(requests, 128)) < 0.15 * prompts


def test_bursts_come_in_their_part_of_every_period() -> None:
    requests = build("burst", 1, 800).requests
    whole = requests[-1].arrival_s // BURST_PERIOD_S * BURST_PERIOD_S
    inside = [r.arrival_s % BURST_PERIOD_S for r in requests if r.arrival_s < whole]
    calm_s = BURST_PERIOD_S - BURST_S
    calm = sum(1 for at in inside if at < calm_s) / calm_s
    burst = sum(1 for at in inside if at >= calm_s) / BURST_S
    assert burst / calm == pytest.approx(3.2, rel=0.25)


def test_an_unknown_scenario_is_refused() -> None:
    with pytest.raises(ValueError, match="no scenario"):
        build("nothing", 1)
