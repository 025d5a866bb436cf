"""The cost of a place, term by term, and the rule that takes the least."""

import pytest

from gateway.placement.cost import Ask, Weights, price, slot_price
from gateway.placement.marginal import LeastCost
from gateway.placement.order import MOST_EXCESS_S, Order, rank_s
from gateway.placement.rule import Pressure
from tests.unit.placement.places import ASK, SPEED, STEPS, backend, load, option

# The defaults are tuned now and then; what the terms mean is not.
WEIGHTS = Weights(others=1.0, scarcity=1.0, patience=2.0)
PREFILL_S = 0.05 + 100 * 0.001


def test_alone_it_costs_its_own_time_only() -> None:
    found = price(ASK, load(0), SPEED, 4, 0.0)
    assert found.own_s == pytest.approx(PREFILL_S + 50 * STEPS[1])
    assert (found.others_s, found.wait_s, found.scarcity_s, found.risk_s) == (0, 0, 0, 0)
    assert found.is_free
    assert found.total_s == found.own_s


def test_others_lose_the_prompt_and_the_slower_steps() -> None:
    found = price(ASK, load(2, 300.0), SPEED, 4, 0.0)
    assert found.own_s == pytest.approx(PREFILL_S + 50 * STEPS[3])
    assert found.others_s == pytest.approx(2 * PREFILL_S + 300 * (STEPS[3] - STEPS[2]))
    half = price(ASK, load(2, 300.0), SPEED, 4, 0.0, weights=Weights(others=0.5))
    assert half.others_s == pytest.approx(found.others_s / 2)


def test_prompts_ahead_are_waited_for() -> None:
    assert price(ASK, load(1, 10.0, 2.5), SPEED, 4, 0.0).wait_s == 2.5


@pytest.mark.parametrize("reserved", [0, 1, 3])
def test_a_full_one_is_waited_for_behind_those_that_wait_already(reserved: int) -> None:
    found = price(ASK, load(4, 400.0, 1.0), SPEED, 4, 0.0, reserved, WEIGHTS)
    ahead_s = 400 / 4 * STEPS[4] + 1.0
    assert not found.is_free
    assert found.wait_s == pytest.approx(2.0 * (reserved + 1) * ahead_s / 4)
    # As one of the four, not as a fifth.
    assert found.own_s == pytest.approx(PREFILL_S + 50 * STEPS[4])


@pytest.mark.parametrize(("running", "is_scarce"), [(0, False), (2, False), (3, True), (4, True)])
def test_the_last_slot_and_those_of_full_ones_are_scarce(running: int, is_scarce: bool) -> None:
    found = price(ASK, load(running, 10.0), SPEED, 4, 2.0)
    slot_s = PREFILL_S + 50 * STEPS[4] / 4
    assert found.scarcity_s == pytest.approx(2.0 * slot_s if is_scarce else 0.0)


@pytest.mark.parametrize(
    ("sequences", "running", "is_free"),
    [(1, 3, True), (2, 3, False), (2, 2, True), (9, 0, True), (9, 1, False)],
)
def test_several_sequences_need_as_many_places_but_alone_they_always_fit(
    sequences: int, running: int, is_free: bool
) -> None:
    ask = ASK._replace(sequences=sequences)
    assert price(ask, load(running, 10.0), SPEED, 4, 0.0).is_free is is_free


# Memory of 1000 tokens; the request takes 200 at once and 250 in the end.
@pytest.mark.parametrize(
    ("running", "context", "left", "has_risk", "is_full"),
    [
        (1, 600.0, 0.0, False, False),
        (1, 600.0, 100.0, True, False),
        (1, 730.0, 0.0, True, True),
        (0, 990.0, 0.0, False, False),
    ],
)
def test_memory_is_a_risk_first_and_full_then(
    running: int, context: float, left: float, has_risk: bool, is_full: bool
) -> None:
    speed = SPEED._replace(kv_tokens=1000)
    found = price(ASK, load(running, left, context=context), speed, 4, 0.0)
    assert (found.risk_s > 0) is has_risk
    assert found.is_memory_full is is_full
    assert found.is_free is not is_full
    parts = found.own_s + found.others_s + found.wait_s + found.scarcity_s + found.risk_s
    assert found.total_s == pytest.approx(parts)


@pytest.mark.parametrize(
    ("held", "mean_held", "scarce", "expected"),
    [(0, 0.0, 0, 0.0), (9, 9.0, 0, 0.0), (1, 0.0, 1, 1.0), (5, 0.0, 2, 2.5), (1, 6.0, 1, 7.0)],
)
def test_the_price_of_a_slot(held: int, mean_held: float, scarce: int, expected: float) -> None:
    assert slot_price(held, mean_held, scarce, WEIGHTS) == expected
    assert slot_price(held, mean_held, scarce, Weights(scarcity=2.0)) == 2 * expected


@pytest.mark.parametrize(
    ("order", "service_s", "waited_s", "priority", "excess_s", "expected"),
    [
        (Order.FCFS, 9.0, 5.0, 0, 30.0, -5.0),
        (Order.FCFS, 9.0, 5.0, 1, 0.0, 15.0),
        (Order.SHORTEST, 9.0, 10.0, 0, 30.0, 6.0),
        (Order.FAIR, 9.0, 10.0, 0, 30.0, 36.0),
        (Order.FAIR, 9.0, 0.0, 0, 1e9, 9.0 + MOST_EXCESS_S),
        (Order.FAIR, 9.0, 0.0, 0, -5.0, 9.0),
        (Order.FAIR, 9.0, 0.0, 99, 0.0, 209.0),
        (Order.FAIR, 9.0, 0.0, -99, 0.0, -191.0),
    ],
)
def test_ranks(
    order: Order,
    service_s: float,
    waited_s: float,
    priority: int,
    excess_s: float,
    expected: float,
) -> None:
    assert rank_s(order, service_s, waited_s, priority, excess_s) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("penalties_s", "drawn", "chosen"),
    [
        ((0.0, 0.0, 0.0), 0.0, 0),
        ((0.0, 0.0, 0.0), 0.5, 1),
        ((0.0, 0.0, 0.0), 0.99, 2),
        ((0.02, 0.0, 0.02), 0.99, 2),
        ((0.5, 0.0, 0.5), 0.99, 1),
        ((0.5, 0.0, 0.02), 0.0, 1),
    ],
)
def test_those_that_cost_about_the_same_are_drawn_for(
    penalties_s: tuple[float, ...], drawn: float, chosen: int
) -> None:
    options = [
        option(backend(str(index)), penalty_s=penalty_s)
        for index, penalty_s in enumerate(penalties_s)
    ]
    assert LeastCost(WEIGHTS).choose(options, Pressure(), lambda: drawn).chosen == chosen


@pytest.mark.parametrize(
    ("weights", "penalty_s", "chosen"),
    [((1.0, 2.0), 0.0, 1), ((2.0, 1.0), 0.0, 0), ((1.0, 2.0), 100.0, 0)],
)
def test_weight_and_penalty_count(
    weights: tuple[float, float], penalty_s: float, chosen: int
) -> None:
    first, second = (backend("ab"[n], weight=weight) for n, weight in enumerate(weights))
    options = [option(first), option(second, penalty_s=penalty_s)]
    choice = LeastCost(WEIGHTS).choose(options, Pressure(), lambda: 0.5)
    assert choice.chosen == chosen
    assert choice.is_free
    assert len(choice.prices) == 2


@pytest.mark.parametrize(
    ("prompt_tokens", "chosen", "is_free"), [(60_000, 1, False), (200, 0, True)]
)
def test_a_cached_prompt_is_worth_a_wait_but_not_any(
    prompt_tokens: int, chosen: int, is_free: bool
) -> None:
    ask = Ask(prompt_tokens, float(prompt_tokens), 50.0)
    options = [
        option(backend("a"), ask),
        option(backend("b", 4), ask._replace(uncached_tokens=1.0)),
    ]
    choice = LeastCost(WEIGHTS).choose(options, Pressure(1), lambda: 0.5)
    assert (choice.chosen, choice.is_free) == (chosen, is_free)
