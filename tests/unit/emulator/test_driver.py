"""The driver in a real loop at a high time scale: tokens in order, turns, aborts."""

import asyncio

import pytest

from gateway.emulator.driver import EngineBusyError
from gateway.emulator.generation import Limits, complete
from tests.support.drivers import ENDLESS, driving, read, submit, text_of


async def test_tokens_come_in_order_and_complete() -> None:
    with driving() as (driver, watch):
        run = submit(driver, "hello", max_tokens=50)
        found = await read(run)
        assert len(found) == 50
        assert text_of(found) == complete("hello", Limits(50, ignore_eos=True))
        assert found[-1][1].finish == "length"
        assert driver.engine.idle
        assert driver.engine.kv.usage_ratio == 0.0
        assert watch.submitted == list(run.ids)
        assert driver.aborted == 0


async def test_choices_of_one_run_are_told_apart() -> None:
    with driving() as (driver, _):
        found = await read(submit(driver, "one", "another", "缓存"), ends=3)
        for index, prompt in enumerate(("one", "another", "缓存")):
            assert text_of(found, index) == complete(prompt, Limits(20, ignore_eos=True))


async def test_runs_that_are_sent_together_start_in_one_step() -> None:
    with driving() as (driver, watch):
        runs = [submit(driver, f"prompt {number}") for number in range(4)]
        await asyncio.gather(*map(read, runs))
        assert len(watch.steps[0].tokens) == 4
        assert len(watch.steps) == 20


async def test_a_step_begins_when_the_one_before_ends_by_the_plan() -> None:
    with driving(scale=200.0) as (driver, watch):
        await read(submit(driver, "hello", max_tokens=30))
        for before, after in zip(watch.steps, watch.steps[1:], strict=False):
            assert after.started >= before.ended
        for step in watch.steps:
            assert step.ended - step.started == pytest.approx(step.duration_s / 200)


async def test_time_runs_as_fast_as_the_scale_says() -> None:
    with driving(scale=20.0) as (driver, watch):
        await read(submit(driver, "hello", max_tokens=40))
        spent_s = watch.steps[-1].ended - watch.steps[0].started
        planned_s = sum(step.duration_s for step in watch.steps) / 20
        assert spent_s >= planned_s * 0.999  # never faster than the card
        resolution_s = 0.002
        for step, told_at in zip(watch.steps, watch.told_at, strict=True):
            assert told_at >= step.ended - resolution_s  # no token before its step is over


async def test_requests_wait_their_turn() -> None:
    with driving(max_num_seqs=2) as (driver, watch):
        runs = [submit(driver, f"prompt {number}", max_tokens=5) for number in range(6)]
        await asyncio.gather(*map(read, runs))
        ended = [s.request.id for step in watch.steps for s in step.finished]
        assert ended == [run.ids[0] for run in runs]
        assert driver.engine.totals.max_running == 2


async def test_an_abort_frees_memory_at_once_and_others_go_on() -> None:
    with driving() as (driver, watch):
        left, kept = submit(driver, "a", max_tokens=ENDLESS), submit(driver, "b", max_tokens=200)
        await left.next()
        await kept.next()
        before = driver.engine.kv.free_blocks
        left.cancel()
        assert driver.engine.kv.free_blocks > before
        assert driver.engine.running == 1
        assert (driver.aborted, watch.aborts) == (1, 1)
        left.cancel()
        assert driver.aborted == 1
        await read(kept)
        kept.cancel()  # all of it has ended
        assert driver.aborted == 1
        assert driver.engine.kv.usage_ratio == 0.0


async def test_a_waiting_request_can_be_aborted() -> None:
    with driving(max_num_seqs=1) as (driver, watch):
        first, second = submit(driver, "a", max_tokens=ENDLESS), submit(driver, "b")
        await watch.next_step()
        assert driver.engine.waiting == 1
        second.cancel()
        assert driver.engine.waiting == 0
        first.cancel()
        assert driver.engine.idle


async def test_every_choice_of_a_run_is_aborted() -> None:
    with driving() as (driver, _):
        run = submit(driver, "a", "b", "c", max_tokens=ENDLESS)
        await run.next()
        run.cancel()
        assert driver.engine.idle
        assert driver.aborted == 3


async def test_after_all_has_left_the_engine_starts_again() -> None:
    with driving() as (driver, watch):
        run = submit(driver, "a", max_tokens=ENDLESS)
        await run.next()
        run.cancel()
        assert text_of(await read(submit(driver, "b"))) == complete(
            "b", Limits(20, ignore_eos=True)
        )
        assert driver.engine.idle
        seen = len(watch.steps)
        await asyncio.sleep(0)
        assert len(watch.steps) == seen  # an idle engine does not step


async def test_a_full_queue_refuses_the_whole_run() -> None:
    with driving(max_num_queued_reqs=3) as (driver, watch):
        run = submit(driver, "a", "b", max_tokens=ENDLESS)
        with pytest.raises(EngineBusyError):
            submit(driver, "c", "d")
        assert len(watch.submitted) == 2
        submit(driver, "c")
        run.cancel()


async def test_a_prompt_too_long_for_the_memory_leaves_nothing_behind() -> None:
    with driving(kv_tokens=160) as (driver, watch):
        with pytest.raises(ValueError, match="KV memory"):
            submit(driver, "short", "long " * 200)
        assert driver.engine.idle
        assert watch.submitted == []
        assert driver.aborted == 0
        assert len(await read(submit(driver, "short"))) == 20


async def test_a_prompt_seen_before_is_found_in_the_cache() -> None:
    with driving() as (driver, _):
        prompt = "the cache " * 20
        await read(submit(driver, prompt))
        again = submit(driver, prompt)
        await read(again)
        assert again.sequences[0].cached_tokens >= 32
