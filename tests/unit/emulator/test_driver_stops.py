"""A driver that is frozen or dies: who waits goes on later, or is told."""

import asyncio

import pytest

from gateway.emulator.driver import EngineDeadError
from gateway.emulator.generation import Limits, complete
from tests.support.drivers import ENDLESS, driving, read, submit, text_of


async def test_a_frozen_engine_stands_still_and_goes_on_where_it_was() -> None:
    with driving() as (driver, watch):
        run = submit(driver, "hello", max_tokens=200)
        found = [await run.next()]
        driver.freeze()
        seen, steps = driver.engine.totals.generated_tokens, len(watch.steps)
        late = submit(driver, "late")
        while len(found) < seen:
            found.append(await run.next())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await run.next()
        assert len(watch.steps) == steps
        assert driver.frozen
        driver.thaw()
        driver.thaw()  # once more changes nothing
        found += await read(run)
        assert text_of(found) == complete("hello", Limits(200, ignore_eos=True))
        await read(late)


async def test_requests_to_a_frozen_engine_start_when_it_thaws() -> None:
    with driving() as (driver, watch):
        driver.freeze()
        run = submit(driver, "hello")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert watch.steps == []
        driver.thaw()
        assert len(await read(run)) == 20


async def test_a_request_may_leave_a_frozen_engine() -> None:
    with driving() as (driver, _):
        run = submit(driver, "hello", max_tokens=ENDLESS)
        await run.next()
        driver.freeze()
        run.cancel()
        assert driver.engine.idle
        driver.thaw()
        assert len(await read(submit(driver, "hello"))) == 20


async def test_death_fails_every_run_after_the_tokens_it_had() -> None:
    with driving(max_num_seqs=1) as (driver, watch):
        running, waiting = submit(driver, "a", max_tokens=ENDLESS), submit(driver, "b")
        reader = asyncio.create_task(read(waiting))
        await watch.next_step()
        await watch.next_step()
        made = driver.engine.totals.generated_tokens
        driver.kill()
        for _ in range(made):
            await running.next()
        with pytest.raises(EngineDeadError):
            await running.next()
        with pytest.raises(EngineDeadError):
            await running.next()  # and stays so
        with pytest.raises(EngineDeadError):
            await reader
        with pytest.raises(EngineDeadError):
            submit(driver, "c")
        assert driver.engine.idle
        assert driver.engine.kv.usage_ratio == 0.0


async def test_a_dead_engine_does_not_step_when_thawed() -> None:
    with driving() as (driver, watch):
        run = submit(driver, "a", max_tokens=ENDLESS)
        await run.next()
        driver.freeze()
        driver.kill()
        steps = len(watch.steps)
        driver.thaw()
        await asyncio.sleep(0.01)
        assert len(watch.steps) == steps


async def test_the_polite_death_ends_every_choice_as_aborted() -> None:
    with driving(max_num_seqs=2) as (driver, _):
        run = submit(driver, "a", "b", "c", max_tokens=ENDLESS)
        await run.next()
        driver.abort_all()
        found = await read(run, ends=3)
        ends = {index: token.finish for index, token in found if token.finish}
        assert ends == {0: "abort", 1: "abort", 2: "abort"}
        assert driver.engine.idle
        with pytest.raises(EngineDeadError):
            submit(driver, "d")
