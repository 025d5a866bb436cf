"""The engine's use of KV memory: prefix cache, preemption, and no block lost or given twice."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.emulator.engine import Engine
from gateway.emulator.records import Sequence, StepResult
from tests.support.engines import engine, finished, run, submit, tokens_of


def test_a_shared_prefix_is_read_once() -> None:
    one = engine()
    prompt = list(range(16))
    submit(one, "a", prompt, 1)
    run(one)
    second = submit(one, "b", prompt, 1)
    results = run(one)
    assert one.totals.prefix_hits_tokens == 12  # the last token is always computed anew
    assert one.totals.prefix_queries_tokens == 32
    assert second.cached_tokens == 12
    assert [result.load.prefill_tokens for result in results] == [4]


def test_running_requests_share_blocks() -> None:
    one = engine()
    first = submit(one, "a", list(range(16)), 20)
    one.step(0.0)
    second = submit(one, "b", [*range(12), 77, 78, 79, 80], 20)
    one.step(1.0)
    assert second.cached_tokens == 12
    assert first.blocks[:3] == second.blocks[:3]
    assert not set(first.blocks[3:]) & set(second.blocks[3:])


def test_an_answer_is_a_cached_prefix_of_the_next_turn() -> None:
    one = engine()
    submit(one, "a", list(range(8)), 9, grow=True)
    run(one)
    turn = submit(one, "b", [*range(8), *range(1000, 1009), 5, 6, 7], 1)
    run(one)
    assert turn.cached_tokens == 16


@pytest.mark.parametrize("caching", [True, False])
def test_different_prompts_share_nothing(caching: bool) -> None:
    one = engine(enable_prefix_caching=caching)
    submit(one, "a", [1] * 16, 1)
    run(one)
    second = submit(one, "b", [2] + [1] * 15 if caching else [1] * 16, 1)
    run(one)
    assert second.cached_tokens == 0
    assert one.totals.prefix_hits_tokens == 0


def test_cached_content_goes_when_its_memory_is_needed() -> None:
    one = engine(kv_tokens=44)
    submit(one, "a", [1] * 16, 1)
    run(one)
    submit(one, "b", [2] * 39, 1)
    run(one)
    again = submit(one, "c", [1] * 16, 1)
    run(one)
    assert again.cached_tokens == 0


def test_without_room_the_youngest_starts_again_and_all_finish() -> None:
    one = engine(kv_tokens=40, enable_prefix_caching=False)
    submit(one, "old", [1] * 8, 20)
    submit(one, "young", [2] * 8, 20)
    results = run(one)
    preempted = [name for r in results for name in r.preempted]
    assert preempted
    assert set(preempted) == {"young"}
    assert finished(results) == ["old", "young"]
    assert one.totals.preemptions == len(preempted)


def test_a_preempted_request_is_the_next_and_reads_all_again() -> None:
    one = engine(kv_tokens=40, enable_prefix_caching=False, max_num_seqs=2)
    submit(one, "old", [1] * 8, 20)
    young = submit(one, "young", [2] * 8, 20)
    later = submit(one, "later", [3] * 4, 1)
    now = 0.0
    while not (result := one.step(now)) or not result.preempted:
        assert result is not None
        now = result.ended
    assert list(one.ids()) == ["old", "young", "later"]
    assert (young.computed, young.blocks, young.preemptions) == (0, [], 1)
    kept = young.total
    assert kept > 8
    again: list[bool] = []
    while not one.idle:
        result = one.step(result.ended)
        assert result is not None
        # Prompt and answer so far are read in one go, and nobody went before.
        again.append(young.computed > 0 and result.load.prefill_tokens >= kept)
        assert again.count(True) == 1 or later.first_scheduled is None
    assert again.count(True) == 1


def test_preemption_neither_loses_nor_repeats_a_token() -> None:
    one = engine(kv_tokens=60, max_num_seqs=4)
    for number in range(6):
        submit(one, str(number), [number] * 6, 25, grow=True)
    results = run(one)
    assert one.totals.preemptions > 0
    expected = {str(number): list(range(1000, 1025)) for number in range(6)}
    assert tokens_of(results) == expected
    assert one.totals.generated_tokens == 6 * 25


def test_nobody_is_admitted_in_a_step_that_preempts() -> None:
    # A small budget lets the beginning of the victim fit where the whole of it would not.
    one = engine(
        kv_tokens=60, max_num_seqs=3, enable_prefix_caching=False, max_num_batched_tokens=8
    )
    for number in range(4):
        submit(one, str(number), [number] * 6, 25)
    now = 0.0
    while not one.idle:
        before = set(list(one.ids())[: one.running])
        step = one.begin_step(now)
        assert step is not None
        if step.preempted:
            assert {sequence.request.id for sequence, _ in step.scheduled} <= before
            assert not {sequence.request.id for sequence, _ in step.scheduled} & {*step.preempted}
        now = one.finish_step(step).ended
    assert one.totals.preemptions > 0


def test_a_request_longer_than_the_memory_is_told_and_dropped() -> None:
    one = engine(kv_tokens=40, enable_prefix_caching=False)
    submit(one, "endless", [1] * 8, 1000)
    submit(one, "short", [2] * 8, 2)
    with pytest.raises(RuntimeError, match="endless outgrew"):
        run(one)
    assert list(one.ids()) == []
    assert one.kv.usage_ratio == 0.0


def check_memory(one: Engine, sequences: list[Sequence]) -> None:
    """Every block is free or referenced by exactly those who hold it; nobody holds one twice."""
    kv = one.kv
    assert 0.0 <= kv.usage_ratio <= 1.0
    held: Counter[int] = Counter()
    for sequence in sequences:
        assert len(set(sequence.blocks)) == len(sequence.blocks)
        assert len(sequence.blocks) * kv.block_size >= sequence.computed or not sequence.blocks
        held.update(sequence.blocks)
    assert 0 not in held
    for block in range(1, kv.usable_blocks + 1):
        assert kv.references(block) == held[block]
    assert kv.free_blocks == kv.usable_blocks - len(held)


REQUESTS = st.lists(
    # prompt content, prompt length, answer length, step it comes at, step it leaves at
    st.tuples(
        st.integers(0, 2),
        st.integers(1, 30),
        st.integers(1, 15),
        st.integers(0, 20),
        st.none() | st.integers(0, 40),
    ),
    min_size=1,
    max_size=10,
)


@settings(max_examples=150, deadline=None)
@given(
    REQUESTS,
    st.integers(13, 40),
    st.integers(1, 5),
    st.integers(1, 40),
    st.booleans(),
)
def test_no_block_is_lost_or_given_twice(
    requests: list[tuple[int, int, int, int, int | None]],
    blocks: int,
    max_num_seqs: int,
    budget: int,
    caching: bool,
) -> None:
    one = engine(
        kv_tokens=blocks * 4,
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=budget,
        enable_prefix_caching=caching,
    )
    sequences: list[Sequence] = []
    lengths: dict[str, int] = {}
    aborted: set[str] = set()
    results: list[StepResult] = []
    now = 0.0
    last_event = max(max(at, leave or 0) for _, _, _, at, leave in requests)
    for step in range(5000):
        for number, (content, prompt, length, at, leave) in enumerate(requests):
            if at == step:
                sequences.append(submit(one, str(number), [content] * prompt, length, now))
                lengths[str(number)] = length
            begun = None
            if leave == step:
                begun = one.begin_step(now)  # a client may leave while a step runs
                if one.abort(str(number)):
                    aborted.add(str(number))
            if begun is not None:
                results.append(one.finish_step(begun))
            check_memory(one, sequences)
        if one.idle and step >= last_event:
            break
        result = one.step(now)
        if result is not None:
            now = result.ended
            results.append(result)
            assert one.running <= max_num_seqs
            assert result.load.prefill_tokens + result.load.decodes <= budget
        check_memory(one, sequences)
    assert one.idle
    assert one.kv.free_blocks == one.kv.usable_blocks
    assert one.kv.usage_ratio == 0.0
    counts = {name: len(found) for name, found in tokens_of(results).items()}
    for name, length in lengths.items():
        assert counts.get(name, 0) == length or name in aborted
