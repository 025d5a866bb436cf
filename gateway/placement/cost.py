"""What it costs, in seconds, to place one request on one backend: the marginal step cost.

Its own time there, what it takes from those that run there, what a full backend lets it wait, what
a scarce slot is worth to those who wait, and the risk that the KV memory does not hold it.
"""

from typing import Final, NamedTuple

from gateway.fleet.view import Load, Speed

MEMORY_LIMIT: Final = 0.92
"""Share of the KV memory beyond which a backend counts as full."""

_OVERFLOW_S: Final = 100.0
_AGAIN: Final = 10.0


class Weights(NamedTuple):
    """How much each term of the cost counts; figures hardly change within the ranges given."""

    others: float = 1.0
    """Delay of those that run there, 0.5 to 1."""
    scarcity: float = 1.5
    """Price of a slot where slots are scarce, for each request that waits, 1 to 4."""
    patience: float = 4.0
    """How long a request thinks that a full backend takes to have a place, 2 to 8: the larger,
    the sooner it takes a slower backend instead."""


WEIGHTS: Final = Weights()


class Ask(NamedTuple):
    """What a request asks of a backend, in tokens: prompt, of it not cached there, answer.

    It takes as many places in the batch as it has `sequences`, and each has an answer.
    """

    prompt_tokens: int
    uncached_tokens: float
    output_tokens: float
    sequences: int = 1


class Price(NamedTuple):
    """The cost of a place in seconds, term by term; `is_free` says that it can be had now.

    `total_s` is their sum. `is_memory_full` says that the KV memory has no room for the prompt.
    """

    total_s: float
    own_s: float
    others_s: float
    wait_s: float
    scarcity_s: float
    risk_s: float
    is_free: bool
    is_memory_full: bool


def price(
    ask: Ask,
    load: Load,
    speed: Speed,
    cap: int,
    slot_price: float,
    reserved: int = 0,
    weights: Weights = WEIGHTS,
) -> Price:
    """The cost of this request on this backend.

    `cap` is how many requests it may have now, at least 1; `slot_price` what a slot costs where
    slots are scarce (see `slot_price`); `reserved` how many wait for this backend already.
    """
    prompt_tokens, uncached_tokens, output_tokens, size = ask
    steps, best_cap, token_s, fix_s, kv_tokens = speed
    count, left_tokens = load.running, load.left_tokens
    last = len(steps) - 1
    is_full = count > load.others and count + size > cap
    base = (cap - size if cap > size else 0) if is_full else count
    if base >= last:
        base = last - 1
    step_s = steps[base + size if base + size < last else last]
    prefill_s = fix_s + uncached_tokens * token_s
    own_s = prefill_s + output_tokens * step_s
    slower_s = step_s - steps[base] if base else 0.0
    others_s = weights.others * (load.streaming * prefill_s + left_tokens * slower_s)
    wait_s = load.pending_s
    if is_full:
        # Of others it is not known how much they have left: as much as ours, on average.
        ours = count - load.others
        mean_tokens = left_tokens / ours if ours else output_tokens
        ahead_s = mean_tokens * steps[count if count < last else last] + wait_s
        wait_s = weights.patience * (reserved + 1) * ahead_s / (ours or 1)
    scarcity_s = 0.0
    if count + size >= cap:
        scarcity_s = slot_price * (prefill_s + output_tokens * steps[best_cap] / best_cap)
    risk_s, is_memory_full = 0.0, False
    if not count:
        pass
    elif kv_tokens is None:
        over = (load.kv_ratio or 0.0) - MEMORY_LIMIT
        if over > 0.0:
            risk_s, is_memory_full = own_s + _OVERFLOW_S * over, True
    else:
        context_tokens = load.context_tokens
        need_tokens = context_tokens + left_tokens + prompt_tokens + output_tokens
        over = need_tokens / kv_tokens - MEMORY_LIMIT
        if over > 0.0:
            whole_s = (prompt_tokens + output_tokens) * token_s
            risk_s = (1.0 + _AGAIN * over) * whole_s + _OVERFLOW_S * over
            is_memory_full = (context_tokens + prompt_tokens) / kv_tokens > MEMORY_LIMIT
    total_s = own_s + others_s + wait_s + scarcity_s + risk_s
    # With nothing of ours there one may always try: others and figures may be wrong for ever.
    is_free = not is_full and (not is_memory_full or count <= load.others)
    return Price(total_s, own_s, others_s, wait_s, scarcity_s, risk_s, is_free, is_memory_full)


def slot_price(held: int, mean_held: float, scarce: int, weights: Weights = WEIGHTS) -> float:
    """What a slot of a full backend, or its last one, costs per second that it is taken.

    `held` requests wait now, `mean_held` of late, `scarce` backends are full or nearly so.
    """
    if not scarce:
        return 0.0
    return weights.scarcity * (1.0 + max(held - 1.0, mean_held, 0.0)) / scarce
