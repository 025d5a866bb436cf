"""The engine in virtual time: step times, batching, budget, aborts."""

import pytest

from tests.support.engines import engine, finished, run, submit


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
    assert decode[0].graph is (streams <= 4)


def test_a_step_with_a_prompt_is_eager_for_all() -> None:
    one = engine()
    submit(one, "a", [1] * 4, 20)
    first = one.step(0.0)
    assert first is not None
    submit(one, "b", [2] * 100, 5, now=first.ended)
    mixed = one.step(first.ended)
    assert mixed is not None
    assert mixed.load.prefill_tokens == 100
    assert not mixed.graph
    assert mixed.ended - mixed.started == pytest.approx(max(0.5, 100 / 100) + 0.05)


def test_the_load_counts_contexts_and_attention_over_earlier_chunks() -> None:
    one = engine(max_num_batched_tokens=8)
    submit(one, "a", [1] * 20, 3)
    loads = [result.load for result in run(one)]
    assert [load.prefill_context_products for load in loads] == [0, 8 * 8, 4 * 16, 0, 0]
    assert [load.decode_context_tokens for load in loads] == [0, 0, 0, 21, 22]
    assert [load.decodes for load in loads] == [0, 0, 0, 1, 1]


def test_a_caller_in_real_time_says_when_a_step_ended() -> None:
    one = engine()
    sequence = submit(one, "a", [1], 1, now=3.0)
    begun = one.begin_step(5.0)
    assert begun is not None
    assert one.finish_step(begun, ended=99.0).ended == 99.0
    assert (sequence.arrived, sequence.first_scheduled, sequence.first_token) == (3.0, 5.0, 99.0)


def test_an_idle_engine_has_no_step() -> None:
    one = engine()
    assert one.idle
    assert one.step(0.0) is None
    assert one.totals.steps == 0


def test_long_prompts_go_in_chunks_of_the_budget() -> None:
    one = engine(max_num_batched_tokens=32)
    submit(one, "a", [1] * 100, 1)
    assert [r.load.prefill_tokens for r in run(one)] == [32, 32, 32, 4]


def test_decodes_come_before_prompts_in_the_budget() -> None:
    one = engine(max_num_batched_tokens=10)
    submit(one, "a", [1] * 4, 50)
    submit(one, "b", [2] * 4, 50)
    one.step(0.0)
    submit(one, "c", [3] * 20, 2)
    loads = [one.step(1.0 + number) for number in range(3)]
    assert [(r.load.decodes, r.load.prefill_tokens) for r in loads if r] == [(2, 8), (2, 8), (2, 4)]


def test_a_prompt_gets_its_first_token_only_when_all_of_it_is_read() -> None:
    one = engine(max_num_batched_tokens=8)
    sequence = submit(one, "a", [1] * 20, 2)
    results = run(one)
    assert [len(result.tokens) for result in results] == [0, 0, 1, 1]
    assert [result.first_tokens for result in results] == [(), (), (sequence,), ()]


def test_first_come_first_served_up_to_the_number_of_sequences() -> None:
    one = engine(max_num_seqs=2)
    for number in range(5):
        submit(one, str(number), [number] * 4, 3)
    assert one.waiting == 5
    assert one.running == 0
    assert list(one.ids()) == ["0", "1", "2", "3", "4"]
    assert finished(run(one)) == ["0", "1", "2", "3", "4"]
    assert one.totals.max_running == 2


def test_nobody_overtakes_a_request_that_does_not_fit_yet() -> None:
    one = engine(kv_tokens=44, enable_prefix_caching=False)  # ten blocks of four
    submit(one, "holder", [1] * 20, 4)
    submit(one, "large", [2] * 24, 1)
    submit(one, "small", [3], 1)
    one.step(0.0)
    assert (one.running, one.waiting) == (1, 2)
    assert finished(run(one)) == ["holder", "large", "small"]


@pytest.mark.parametrize(("limit", "accepted"), [(None, True), (3, True), (2, False)])
def test_a_queue_limit_counts_running_and_waiting(limit: int | None, accepted: bool) -> None:
    one = engine(max_num_queued_reqs=limit, max_num_seqs=1)
    submit(one, "a", [1], 9)
    submit(one, "b", [1], 9)
    one.step(0.0)
    assert (one.running, one.waiting) == (1, 1)
    assert one.accepts() is accepted


@pytest.mark.parametrize("prompt", [[], [1] * 40])
def test_a_prompt_that_can_never_run_is_refused(prompt: list[int]) -> None:
    one = engine(kv_tokens=44)
    with pytest.raises(ValueError, match="prompt"):
        submit(one, "a", prompt, 1)
    assert one.idle


def test_the_longest_prompt_that_fits_runs() -> None:
    one = engine(kv_tokens=44)
    submit(one, "a", [1] * 39, 1)
    assert finished(run(one)) == ["a"]


def test_an_abort_frees_at_once_and_once() -> None:
    one = engine(max_num_seqs=1)
    submit(one, "a", [1] * 9, 50)
    submit(one, "b", [2] * 9, 50)
    one.step(0.0)
    assert one.kv.usage_ratio > 0
    assert one.abort("a")
    assert not one.abort("a")
    assert one.kv.usage_ratio == 0.0
    assert one.abort("b")  # out of the queue
    assert not one.abort("never here")
    assert one.idle


def test_an_abort_while_its_step_runs_gives_no_token() -> None:
    one = engine()
    submit(one, "a", [1] * 4, 50)
    submit(one, "b", [2] * 4, 50)
    begun = one.begin_step(0.0)
    assert begun is not None
    one.abort("a")
    assert [name for name, _ in one.finish_step(begun).tokens] == ["b"]
