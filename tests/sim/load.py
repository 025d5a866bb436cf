"""How much work requests are, how much a fleet can do, and arrivals stretched to a load."""

from collections.abc import Callable, Sequence
from typing import Final

from gateway.emulator.spec import EngineSpec
from gateway.emulator.steps import StepClock, StepLoad
from tests.sim.requests import SimRequest

BURST_FACTOR: Final = 3.2
BURST_S: Final = 25.0
BURST_PERIOD_S: Final = 120.0


def decode_s(spec: EngineSpec, sequences: int) -> float:
    """Duration of a step that decodes `sequences` sequences with no context."""
    return StepClock(spec).duration_s(StepLoad(decodes=sequences))


def best_decode_rate(spec: EngineSpec) -> float:
    """Tokens per second at the batch size that makes the most of them."""
    return max(n / decode_s(spec, n) for n in range(1, spec.max_num_seqs + 1))


def uncached_tokens(requests: Sequence[SimRequest], block_tokens: int) -> list[int]:
    """Prompt tokens that are left to compute with one endless prefix cache for all."""
    seen: set[int] = set()
    left: list[int] = []
    for request in requests:
        hits = 0
        for key in request.hashes[: (request.prompt_tokens - 1) // block_tokens]:
            if key not in seen:
                break
            hits += 1
        seen.update(request.hashes)
        left.append(request.prompt_tokens - hits * block_tokens)
    return left


def capacity_per_s(fleet: Sequence[EngineSpec], requests: Sequence[SimRequest]) -> float:
    """Requests like these that the fleet could ideally do in a second."""
    block_tokens = fleet[0].block_size
    prompts = sum(uncached_tokens(requests, block_tokens)) / len(requests)
    outputs = sum(request.output_tokens for request in requests) / len(requests)
    return sum(
        1.0 / (prompts / spec.costs.prefill_tokens_per_s + outputs / best_decode_rate(spec))
        for spec in fleet
    )


def offered_load(fleet: Sequence[EngineSpec], requests: Sequence[SimRequest]) -> float:
    """Offered work over ideal capacity."""
    return len(requests) / requests[-1].arrival_s / capacity_per_s(fleet, requests)


def steady(share: float, duration_s: float) -> float:
    """When `share` of the arrivals of a steady load have come."""
    return share * duration_s


def bursts(share: float, duration_s: float) -> float:
    """When `share` of the arrivals have come, with a burst at the end of every period."""
    calm_s = BURST_PERIOD_S - BURST_S
    period = calm_s + BURST_FACTOR * BURST_S

    def come(at_s: float) -> float:
        periods, rest = divmod(at_s, BURST_PERIOD_S)
        return periods * period + rest + (BURST_FACTOR - 1.0) * max(0.0, rest - calm_s)

    periods, rest = divmod(share * come(duration_s), period)
    inside = rest if rest <= calm_s else calm_s + (rest - calm_s) / BURST_FACTOR
    return periods * BURST_PERIOD_S + inside


def stretched(
    requests: Sequence[SimRequest],
    fleet: Sequence[EngineSpec],
    load: float,
    shape: Callable[[float, float], float] = steady,
) -> list[SimRequest]:
    """The same requests in the same order, at times that make exactly this load."""
    duration_s = len(requests) / load / capacity_per_s(fleet, requests)
    first, last = requests[0].arrival_s, requests[-1].arrival_s
    gap = (last - first) / (len(requests) - 1) if len(requests) > 1 else 1.0
    return [
        request.at(shape((request.arrival_s - first + gap) / (last - first + gap), duration_s))
        for request in requests
    ]
