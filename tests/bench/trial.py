"""One run: a fresh fleet, one contender before it, one replay of the arrivals, all torn down."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

import httpx
import msgspec
from prometheus_client.parser import text_string_to_metric_families

from tests.bench import fleet
from tests.bench.arrivals import MODEL, Arrival, write
from tests.bench.contenders import Contender, Site, command
from tests.bench.figures import Figures, figures
from tests.bench.fleet import HOST, Member
from tests.bench.generator import REQUEST_LIMIT_S, Replay
from tests.bench.peers import Tools
from tests.bench.process import Child, children, machine_cpu_s
from tests.support.children import PYTHON

START_LIMIT_S: Final = 40.0
SETTLE_S: Final = 1.0
"""From the first answer to the first arrival: all backends of a contender have been probed."""
_POLL_S: Final = 0.05
_PREEMPTIONS: Final = "vllm:num_preemptions"
_HITS: Final = "vllm:prefix_cache_hits"
_QUERIES: Final = "vllm:prefix_cache_queries"


@dataclass(frozen=True, slots=True)
class Busy:
    """How busy the run's processes kept the machine, as shares of one core."""

    emulators: float
    """The busiest of them."""
    contender: float
    generator: float
    run: float
    """All processes of the run together, as a share of all cores."""
    machine: float
    """Whatever ran on this machine, as a share of all cores."""

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return {name: round(value, 3) for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Trial:
    """What one run gave."""

    contender: Contender
    load: float
    seed: int
    figures: Figures
    busy: Busy
    prefix_hit_ratio: float
    """Prompt tokens found in the engines' prefix caches."""
    worst_late_s: float
    """The latest sending by the generator, in engine seconds."""
    problems: tuple[str, ...]
    """Errors, each kind once."""
    took_s: float
    """Seconds of this machine."""


class TrialError(RuntimeError):
    """A run could not be made."""


def run_trial(
    contender: Contender,
    load: float,
    seed: int,
    arrivals: Sequence[Arrival],
    *,
    scale: float,
    tools: Tools,
    folder: Path,
) -> Trial:
    """One run; TrialError when a process does not come up or answers nothing."""
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    *ports, port, metrics_port = fleet.distinct_ports(len(fleet.PRESETS) + 2)
    members = fleet.members(ports)
    site = Site(port, metrics_port, members, scale, folder)
    with children() as started:
        started += fleet.start(members, scale, folder)
        for child, member in zip(started, members, strict=True):
            _until(child, partial(_is_healthy, member.url))
        started.append(Child("contender", command(contender, site, tools), folder))
        _until(started[-1], partial(_answers, port))
        time.sleep(SETTLE_S)
        replay, busy = _replay(arrivals, port, scale, started, folder)
        counts = [_counts(member) for member in members]
    try:
        found = figures(arrivals, replay.results, round(sum(c[_PREEMPTIONS] for c in counts)))
    except ValueError as error:
        raise TrialError(f"{contender.name}: {error}; logs are in {folder}") from error
    queries = sum(c[_QUERIES] for c in counts)
    return Trial(
        contender=contender,
        load=load,
        seed=seed,
        figures=found,
        busy=busy,
        prefix_hit_ratio=sum(c[_HITS] for c in counts) / max(1.0, queries),
        worst_late_s=max(result.late_s for result in replay.results),
        problems=tuple(sorted({r.error for r in replay.results if r.error is not None})),
        took_s=time.monotonic() - began,
    )


def _replay(
    arrivals: Sequence[Arrival], port: int, scale: float, started: list[Child], folder: Path
) -> tuple[Replay, Busy]:
    """Run the generator and see how busy everything was meanwhile."""
    file, out = folder / "arrivals.jsonl", folder / "results.json"
    write(arrivals, file)
    module = ("-m", "tests.bench.generator")
    before_s, machine_before_s = [child.cpu_s() for child in started], machine_cpu_s()
    began = time.monotonic()
    generator = Child(
        "generator", [PYTHON, *module, str(file), str(port), str(scale), str(out)], folder
    )
    try:
        limit_s = (arrivals[-1].at_s + REQUEST_LIMIT_S) / scale + START_LIMIT_S
        status = generator.wait(limit_s)
    finally:
        generator.stop()
    took_s = time.monotonic() - began
    machine_s = machine_cpu_s() - machine_before_s
    spent_s = [c.cpu_s() - before for c, before in zip(started, before_s, strict=True)]
    if status != 0:
        raise TrialError(f"the load generator failed:\n{generator.tail()}")
    replay = msgspec.json.decode(out.read_bytes(), type=Replay)
    total_s = sum(spent_s) + replay.generator_cpu_s
    *emulators_s, contender_s = spent_s
    all_cores_s = took_s * (os.cpu_count() or 1)
    busy = Busy(
        emulators=max(emulators_s) / took_s,
        contender=contender_s / took_s,
        generator=replay.generator_cpu_s / took_s,
        run=total_s / all_cores_s,
        machine=machine_s / all_cores_s,
    )
    return replay, busy


def _until(child: Child, is_ready: Callable[[], bool]) -> None:
    """Wait; TrialError when the process ends or takes too long."""
    deadline = time.monotonic() + START_LIMIT_S
    while not is_ready():
        if not child.is_running:
            raise TrialError(f"{child.name} ended:\n{child.tail()}")
        if time.monotonic() > deadline:
            raise TrialError(f"{child.name} is not ready:\n{child.tail()}")
        time.sleep(_POLL_S)


def _is_healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=5, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def _answers(port: int) -> bool:
    """Whether a tiny question is answered: a port that listens need not have backends yet."""
    body = {
        "model": MODEL,
        "max_tokens": 2,
        "messages": [{"role": "user", "content": "ready"}],
    }
    url = f"http://{HOST}:{port}/v1/chat/completions"
    try:
        return httpx.post(url, json=body, timeout=30, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def _counts(member: Member) -> dict[str, float]:
    """The engine's own counters that matter here."""
    text = httpx.get(f"{member.url}/metrics", timeout=10, trust_env=False).text
    return {
        family.name: sum(s.value for s in family.samples if s.name.endswith("_total"))
        for family in text_string_to_metric_families(text)
        if family.name in (_PREEMPTIONS, _HITS, _QUERIES)
    }
