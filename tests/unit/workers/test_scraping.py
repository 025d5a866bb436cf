"""The scraping loop in a time that only its own waits move: its pace, patience and failures."""

import asyncio
import itertools
import random
from collections.abc import Callable, Iterator

import pytest

from gateway.clock import Clock
from gateway.fleet.health.evidence import Activity
from gateway.fleet.telemetry.freshness import Scrapes
from gateway.workers.scraping import Scraper

GOOD = Activity(1.0, 0.0, 10.0, 20.0)

Answer = Activity | BaseException | None
Answers = Iterator[tuple[float, Answer]]
"""The seconds that each answer takes, and what it is."""


class EndOfTest(BaseException):
    """Ends the loop when the test has seen enough."""


class Desk:
    """A scraper in virtual time; `until_s` ends it."""

    def __init__(
        self, answers: Answers, *, interval_s: float = 1.0, draw: Callable[[], float] = lambda: 0.5
    ) -> None:
        self.now = 100.0
        self.until_s = 0.0
        self.answers = answers
        self.is_asked = False
        self.taken: list[tuple[Activity | None, float, float]] = []
        self.pauses: list[float] = []
        self.scraper = Scraper(
            "b",
            self.read,
            lambda *scrape: self.taken.append(scrape),
            interval_s=interval_s,
            clock=Clock(lambda: self.now, lambda: self.now),
            draw=draw,
            sleep=self.sleep,
        )

    async def read(self) -> Activity | None:
        assert not self.is_asked, "two at once"
        self.is_asked = True
        took_s, answer = next(self.answers)
        await asyncio.sleep(0)
        self.now += took_s
        self.is_asked = False
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def sleep(self, pause_s: float) -> None:
        self.pauses.append(pause_s)
        self.now += pause_s
        await asyncio.sleep(0)
        if self.now >= self.until_s:
            raise EndOfTest

    async def run(self, seconds: float) -> list[float]:
        """Runs for so long; returns when it asked, from the beginning."""
        begin_s = self.now
        self.until_s = begin_s + seconds
        with pytest.raises(EndOfTest):
            await self.scraper.run()
        return [asked_s - begin_s for _, asked_s, _ in self.taken]


def always(answer: Answer, took_s: float = 0.0) -> Answers:
    return itertools.repeat((took_s, answer))


async def test_it_asks_at_its_pace_and_hands_over_what_it_got() -> None:
    desk = Desk(always(GOOD, 0.25))
    assert await desk.run(5.0) == pytest.approx([0.5, 1.5, 2.5, 3.5, 4.5])
    assert desk.taken[0] == (GOOD, 100.5, 100.75)
    assert repr(desk.scraper) == "<Scraper b every 1.0 s, 0 failures>"


@pytest.mark.parametrize(("drawn", "begin_s", "gap_s"), [(0.0, 0.0, 0.9), (1.0, 1.0, 1.1)])
async def test_the_draw_spreads_it(drawn: float, begin_s: float, gap_s: float) -> None:
    asked = await Desk(always(GOOD), draw=lambda: drawn).run(20.0)
    assert asked[0] == begin_s
    assert [b - a for a, b in itertools.pairwise(asked)] == pytest.approx(
        [gap_s] * (len(asked) - 1)
    )


async def test_many_scrapers_do_not_bunch() -> None:
    draw = random.Random(5).random
    desks = [Desk(always(GOOD), draw=draw) for _ in range(200)]
    asked = [at for desk in desks for at in await desk.run(30.0)]
    # 200 a second: 20 in each tenth on average, from the first tenth on.
    tenths = [sum(1 for at in asked if tenth <= at * 10 < tenth + 1) for tenth in range(290)]
    assert min(tenths) > 4
    assert max(tenths) < 45


@pytest.mark.parametrize(
    ("took_s", "gap_s"),
    [(0.0, 1.0), (0.3, 1.0), (0.6, 1.0), (0.8, 1.2), (1.0, 1.5)],
)
async def test_a_slow_server_has_a_rest(took_s: float, gap_s: float) -> None:
    asked = await Desk(always(GOOD, took_s)).run(30.0)
    assert [b - a for a, b in itertools.pairwise(asked)] == pytest.approx(
        [gap_s] * (len(asked) - 1)
    )


@pytest.mark.parametrize("interval_s", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("drawn", [0.0, 1.0])
async def test_the_slowest_answers_that_are_waited_for_keep_the_figures_fresh(
    interval_s: float, drawn: float
) -> None:
    desk = Desk(always(GOOD, max(1.0, interval_s)), interval_s=interval_s, draw=lambda: drawn)
    await desk.run(100.0)
    assert len(desk.taken) > 5
    kept = Scrapes(interval_s)
    for activity, asked_s, answered_s in desk.taken:
        if kept.last is not None:
            assert kept.gauges_at(answered_s - 0.001) is not None
        kept = kept.take(activity, asked_s, answered_s, 0)


async def test_one_lost_answer_of_a_quick_server_leaves_the_figures_fresh() -> None:
    desk = Desk(itertools.cycle([(0.05, GOOD), (1.0, None)]), draw=lambda: 1.0)
    await desk.run(100.0)
    kept = Scrapes(1.0)
    for activity, asked_s, answered_s in desk.taken:
        assert kept.last is None or kept.gauges_at(answered_s) is not None
        kept = kept.take(activity, asked_s, answered_s, 0)


async def test_after_a_pause_of_the_process_nothing_is_made_up_for() -> None:
    desk = Desk(itertools.chain([(0.0, GOOD), (600.0, GOOD)], always(GOOD)))
    asked = await desk.run(610.0)
    assert asked[:2] == pytest.approx([0.5, 1.5])
    gaps = [b - a for a, b in itertools.pairwise(asked[2:])]
    assert asked[2] > 601.5 + 0.4
    assert gaps == pytest.approx([1.0] * len(gaps))


async def test_a_clock_that_goes_back_is_no_reason_for_a_storm() -> None:
    desk = Desk(itertools.chain([(-50.0, GOOD)], always(GOOD)))
    await desk.run(10.0)
    assert desk.pauses[1:] == pytest.approx([1.0] * (len(desk.pauses) - 1))


@pytest.mark.parametrize(
    "answer",
    [None, TimeoutError(), ConnectionResetError(), OSError("no route")],
    ids=["none", "timeout", "reset", "os"],
)
async def test_a_backend_that_fails_is_asked_less_and_less_often(answer: Answer) -> None:
    desk = Desk(always(answer))
    asked = await desk.run(300.0)
    gaps = [b - a for a, b in itertools.pairwise(asked)]
    assert gaps[:6] == pytest.approx([1.0, 1.0, 2.0, 4.0, 8.0, 16.0])
    assert gaps[6:] == pytest.approx([30.0 / 1.1] * len(gaps[6:]))
    assert {activity for activity, _, _ in desk.taken} == {None}


async def test_no_pause_is_longer_than_half_a_minute() -> None:
    desk = Desk(always(None), draw=lambda: 1.0)
    await desk.run(300.0)
    assert max(desk.pauses) == pytest.approx(30.0)


async def test_a_longer_interval_is_kept_by_failures() -> None:
    desk = Desk(always(None), interval_s=60.0)
    await desk.run(900.0)
    assert desk.pauses[1:] == pytest.approx([60.0] * (len(desk.pauses) - 1))


async def test_after_a_success_it_goes_on_at_its_pace() -> None:
    desk = Desk(itertools.chain([(0.0, None)] * 9, always(GOOD)))
    asked = await desk.run(150.0)
    gaps = [b - a for a, b in itertools.pairwise(asked)]
    assert gaps[8] > 20.0
    assert gaps[9:] == pytest.approx([1.0] * len(gaps[9:]))
    assert desk.taken[9][0] == GOOD


async def test_one_failure_now_and_then_changes_nothing() -> None:
    desk = Desk(itertools.cycle([(0.0, None), (0.0, None), (0.0, GOOD)]))
    await desk.run(30.0)
    assert desk.pauses[1:] == pytest.approx([1.0] * (len(desk.pauses) - 1))


async def test_faults_of_our_own_are_not_hidden() -> None:
    desk = Desk(always(ValueError("a fault")))
    desk.until_s = 1000.0
    with pytest.raises(ValueError, match="a fault"):
        await desk.scraper.run()
    assert desk.taken == []


async def test_an_answer_that_never_comes_is_given_up() -> None:
    """The wait is real and short; nothing else can end it."""
    taken: list[Activity | None] = []

    async def never() -> Activity | None:
        await asyncio.Event().wait()
        return GOOD

    scraper = Scraper(
        "b", never, lambda a, *_: taken.append(a), timeout_s=0.01, clock=Clock(), draw=lambda: 0.5
    )
    async with asyncio.timeout(20):
        await scraper.scrape()
    assert taken == [None]


@pytest.mark.parametrize("is_reading", [True, False])
async def test_it_stops_when_cancelled(is_reading: bool) -> None:
    reached = asyncio.Event()
    taken: list[object] = []

    async def wait() -> Activity | None:
        reached.set()
        await asyncio.Event().wait()
        return GOOD

    async def sleep(pause_s: float) -> None:
        if not is_reading:
            reached.set()
            await asyncio.Event().wait()

    scraper = Scraper(
        "b", wait, lambda *s: taken.append(s), clock=Clock(), draw=lambda: 0.0, sleep=sleep
    )
    task = asyncio.create_task(scraper.run())
    async with asyncio.timeout(20):
        await reached.wait()
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()
    assert taken == []
