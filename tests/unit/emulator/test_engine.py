"""The engine in virtual time: batching, budget, KV blocks, prefix cache, preemption."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.emulator.engine import Engine
from gateway.emulator.kv import TokenBlockHashes
from gateway.emulator.records import EngineRequest, FixedLength, StepResult
from gateway.emulator.spec import EngineSpec, StepCosts

COSTS = StepCosts(0.1, 0.01, 0.5, 0.05, prefill_tokens_per_s=100)


def engine(**fields: object) -> Engine:
    return Engine(EngineSpec(COSTS, **{"capture_sizes": (1, 4), "block_size": 4, **fields}))  # type: ignore[arg-type]


def submit(one: Engine, name: str, prompt: list[int], length: int, now: float = 0.0) -> None:
    hashes = TokenBlockHashes(prompt, one.spec.block_size)
    one.submit(EngineRequest(name, len(prompt), FixedLength(length), hashes), now)


def run(one: Engine, limit: int = 5000) -> list[StepResult]:
    """All steps until the engine is idle."""
    results: list[StepResult] = []
    now = 0.0
    while not one.idle:
        result = one.step(now)
        assert result is not None
        now = result.ended
        results.append(result)
        assert len(results) < limit
    return results


@pytest.mark.parametrize(
    ("streams", "step_s"),
    [
        (1, 0.1 + 0.01 * 1),
        (2, 0.1 + 0.01 * 4),  # padded to 4
        (4, 0.1 + 0.01 * 4),
        (5, 0.5 + 0.05 * 5),  # above the largest size the whole batch is eager
        (8, 0.5 + 0.05 * 8),
    ],
)
def test_the_time_of_a_decode_step(streams: int, step_s: float) -> None:
    one = engine()
    for number in range(streams):
        submit(one, str(number), [number] * 2, 10)
    decode = [r for r in run(one) if len(r.tokens) == streams and not r.load.prefill_tokens]
    assert decode
    assert decode[0].ended - decode[0].started == pytest.approx(step_s)


def test_a_step_with_a_prompt_is_eager_for_all() -> None:
    one = engine()
    submit(one, "a", [1] * 4, 20)
    first = one.step(0.0)
    assert first is not None
    submit(one, "b", [2] * 100, 5, now=first.ended)
    mixed = one.step(first.ended)
    assert mixed is not None
    assert mixed.load.prefill_tokens == 100
    assert mixed.ended - mixed.started == pytest.approx(max(0.5, 100 / 100) + 0.05)


def test_long_prompts_go_in_chunks_of_the_budget() -> None:
    one = engine(max_num_batched_tokens=32)
    submit(one, "a", [1] * 100, 1)
    assert [r.load.prefill_tokens for r in run(one)] == [32, 32, 32, 4]


def test_first_come_first_served_up_to_the_number_of_sequences() -> None:
    one = engine(max_num_seqs=2)
    for number in range(5):
        submit(one, str(number), [number] * 4, 3)
    assert one.waiting == 5
    results = run(one)
    finished = [s.request.id for r in results for s in r.finished]
    assert finished == ["0", "1", "2", "3", "4"]
    assert one.totals.max_running == 2


def test_a_shared_prefix_is_read_once() -> None:
    one = engine()
    prompt = list(range(16))
    submit(one, "a", prompt, 1)
    run(one)
    submit(one, "b", prompt, 1)
    run(one)
    assert one.totals.prefix_hits_tokens == 12  # the last token is always computed anew


def test_without_room_the_youngest_starts_again_and_all_finish() -> None:
    one = engine(kv_tokens=40, enable_prefix_caching=False)
    submit(one, "old", [1] * 8, 20)
    submit(one, "young", [2] * 8, 20)
    results = run(one)
    preempted = [name for r in results for name in r.preempted]
    assert preempted
    assert set(preempted) == {"young"}
    finished = [s.request.id for r in results for s in r.finished]
    assert finished == ["old", "young"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 30), st.integers(1, 15), st.booleans()), min_size=1, max_size=12
    ),
    st.integers(12, 60),
    st.booleans(),
)
def test_no_block_is_lost_or_given_twice(
    requests: list[tuple[int, int, bool]], blocks: int, caching: bool
) -> None:
    one = engine(kv_tokens=blocks * 4, max_num_seqs=4, enable_prefix_caching=caching)
    for number, (prompt, length, _) in enumerate(requests):
        submit(one, str(number), [number % 3] * prompt, length)
    now = 0.0
    for step in range(3000):
        if one.idle:
            break
        result = one.step(now)
        assert result is not None
        now = result.ended
        kv = one.kv
        assert 0.0 <= kv.usage_ratio <= 1.0
        used = sum(kv.references(block) > 0 for block in range(1, kv.usable_blocks + 1))
        assert used + kv.free_blocks == kv.usable_blocks
        if step == 2:
            for number, (_, _, leaves) in enumerate(requests):
                if leaves:
                    one.abort(str(number))
    assert one.idle
    assert one.kv.free_blocks == one.kv.usable_blocks
    assert one.kv.usage_ratio == 0.0
