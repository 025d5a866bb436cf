"""The simulated world: nothing is lost or done twice, and no policy knows what it must not."""

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.sim.dispatch import Dispatch, KnownFleet, known_fleet
from tests.sim.figures import figures, geometric, paired, quantile
from tests.sim.peers import CentralCapture, LeastInflight, RoundRobin
from tests.sim.policies import CLAIRVOYANT, POLICIES, maker_of
from tests.sim.requests import KnownRequest, Usage
from tests.sim.run import Task, main, outcome_of, run_tasks, table
from tests.sim.workload import build
from tests.sim.world import Outcome, simulate

COUNT = 80


class Watching(CentralCapture):
    """Counts what it is told."""

    def __init__(self, fleet: KnownFleet) -> None:
        super().__init__(fleet)
        self.now = 0.0
        self.firsts: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.got: Counter[str] = Counter()
        self.usage: dict[str, Usage] = {}
        self.scrapes: Counter[int] = Counter()
        self.most_running = 0

    def _moved(self, now: float) -> None:
        assert now >= self.now - 1e-9, "time went back"
        self.now = max(now, self.now)

    def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
        self._moved(now)
        assert now == request.arrival_s
        return super().arrived(request, now)

    def first_token(self, request_id: str, backend: int, now: float) -> None:
        self.firsts[request_id] += 1
        self.got[request_id] += 1

    def tokens(
        self, request_ids: Sequence[str], backend: int, count: int, started: float, now: float
    ) -> None:
        assert started < now <= self.now + 60
        assert len(set(request_ids)) == len(request_ids)
        for name in request_ids:
            assert self.firsts[name] == 1
            self.got[name] += count

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        self._moved(now)
        self.ends[request_id] += 1
        self.usage[request_id] = usage
        return super().finished(request_id, backend, now, usage)

    def scraped(
        self,
        backend: int,
        running: int,
        waiting: int,
        kv_usage_ratio: float,
        preemptions_total: int,
        now: float,
    ) -> Sequence[Dispatch]:
        self._moved(now)
        assert 0.0 <= kv_usage_ratio <= 1.0
        assert running + waiting <= self.inflight[backend]
        self.scrapes[backend] += 1
        self.most_running = max(self.most_running, running)
        return ()


def task(policy: str, scenario: str = "chat", seed: int = 1, engine: str = "fast") -> Task:
    return Task(scenario, policy, seed, COUNT, None, engine, sizes_known=True)


def assert_conserved(outcome: Outcome) -> None:
    assert len(outcome.records) == len(outcome.workload.requests)
    for record in outcome.records:
        assert 0 <= record.backend < len(outcome.workload.fleet)
        assert record.request.arrival_s <= record.dispatched < record.first_token
        assert record.first_token <= record.finished


@pytest.mark.parametrize("policy", [*POLICIES, "central_capture@2", CLAIRVOYANT])
def test_every_request_finishes_exactly_once(policy: str) -> None:
    assert_conserved(outcome_of(task(policy)))
    assert_conserved(outcome_of(task(policy, "kv_tight_310p")))


@pytest.mark.parametrize("scenario", ["chat", "kv_tight_310p", "mooncake"])
def test_a_dispatcher_is_told_everything_once(scenario: str) -> None:
    workload = build(scenario, 1, COUNT)
    watching = Watching(known_fleet(workload.fleet, 1))
    outcome = simulate(workload, watching)
    for request in workload.requests:
        assert watching.firsts[request.id] == watching.ends[request.id] == 1
        assert watching.got[request.id] == request.output_tokens
        usage = watching.usage[request.id]
        assert usage == Usage(request.prompt_tokens, request.output_tokens)
    last = max(record.finished for record in outcome.records)
    assert set(watching.scrapes.values()) == {int(last)}
    assert watching.most_running > 1


def test_a_dispatcher_knows_neither_outputs_nor_speeds() -> None:
    fields = set(KnownRequest.__dataclass_fields__)
    assert fields == {
        "id",
        "arrival_s",
        "prompt_tokens",
        "max_tokens",
        "session",
        "tenant",
        "prefix",
        "block_tokens",
    }
    workload = build("chat", 1, COUNT)
    fleet = known_fleet(workload.fleet, 1, sizes_known=False)
    assert all(backend.capture_sizes is None for backend in fleet.backends)
    assert not hasattr(fleet.backends[0], "costs")


def test_a_request_sent_twice_or_never_is_an_error() -> None:
    class Twice(RoundRobin):
        def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
            return (*super().arrived(request, now), Dispatch(request, 0))

    class Never(RoundRobin):
        def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
            return ()

    workload = build("chat", 1, 10)
    fleet = known_fleet(workload.fleet, 1)
    with pytest.raises(RuntimeError, match="twice"):
        simulate(workload, Twice(fleet))
    with pytest.raises(RuntimeError, match="never sent"):
        simulate(workload, Never(fleet))


def test_one_request_alone_takes_what_the_step_model_says() -> None:
    workload = build("heavy_tail", 1, 1)
    request = workload.requests[0]
    record = simulate(workload, LeastInflight(known_fleet(workload.fleet, 1))).records[0]
    costs = workload.fleet[0].costs
    chunks = [2048] * (request.prompt_tokens // 2048) + [request.prompt_tokens % 2048]
    prefill = sum(max(costs.eager_base_s, n / costs.prefill_tokens_per_s) for n in chunks if n)
    assert record.first_token - request.arrival_s == pytest.approx(prefill)
    step = costs.graph_base_s + costs.graph_slope_s
    assert record.finished - record.first_token == pytest.approx(step * (request.output_tokens - 1))


def test_holding_at_the_largest_capture_size_halves_latency_where_there_is_a_cliff() -> None:
    means = {}
    for policy in ("least_inflight", "central_capture", CLAIRVOYANT):
        one = Task("chat", policy, 1, 300, None, "fast", sizes_known=True)
        means[policy] = figures(outcome_of(one)).mean_s
    assert 0.3 < means["central_capture"] / means["least_inflight"] < 0.65
    assert means[CLAIRVOYANT] < means["central_capture"]


def test_workers_change_nothing() -> None:
    tasks = [task("least_inflight", seed=seed) for seed in (1, 2)] + [task("two_choices")]
    one = [row.figures for row in run_tasks(tasks, workers=1)]
    assert [row.figures for row in run_tasks(tasks, workers=2)] == one
    lines, data = table(run_tasks(tasks, workers=1), "chat", "least_inflight")
    assert len(lines) == 1 + len(data) == 3


def test_the_command_prints_one_object_last(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--requests", "40", "--seeds", "2", "--policy", "central_capture"]
    assert main([*arguments, "--workers", "1"]) == 0
    out = capsys.readouterr()
    assert out.out.splitlines()[-1].startswith('{"against": "least_inflight"')
    assert "central_capture" in out.err
    with pytest.raises(SystemExit, match="no policy"):
        main(["--policy", "nonsense"])


def test_figures_of_ratios() -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.5
    ratio = geometric([0.5, 2.0])
    assert ratio.mean == pytest.approx(1.0)
    assert ratio.low < 0.01
    assert paired({1: 1.0, 2: 2.0}, {1: 2.0, 2: 4.0, 3: 1.0}).mean == pytest.approx(0.5)
    assert maker_of("round_robin@3") is not POLICIES["round_robin"]
