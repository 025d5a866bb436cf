"""A reload storm: the routing file changes all the time, and no client may notice.

    python scripts/reload_storm.py [--short] [--seed N] [--keep DIR]

Calm and stormy phases take turns under the same load; then come many changes a second. Figures go
to stderr, one JSON object to the last line of stdout. The exit status is 0 when all goals are met,
1 when one is missed, 2 when the run could not be set up.
"""

import asyncio
import contextlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Final

import httpx
import openai

from tests.chaos.cases import Oracle
from tests.chaos.fleet import free_ports
from tests.chaos.scene import know_beforehand
from tests.storm.disk import Disk
from tests.storm.drill import Driller, burst
from tests.storm.figures import Phase, latencies
from tests.storm.fleet import NEW_NAME, RENAMED, SERVERS, STEADY, ports_of, serving
from tests.storm.gateway import Gateway
from tests.storm.load import REQUEST_LIMIT_S, Load, Record
from tests.storm.options import BURST_PER_S, Options, parse
from tests.storm.plan import Planner, Step, Trigger, Writer
from tests.storm.report import MOST_FDS, Storm, as_json, summary
from tests.storm.servers import Removed, Servers
from tests.storm.timing import Tails
from tests.support.children import Child, children_end

READY_LIMIT_S: Final = 60.0
QUIET_LIMIT_S: Final = 20.0
WARM_REQUESTS: Final = 36
_QUIET_POLL_S: Final = 0.1
_PROBES_MAY_END_S: Final = 2.0
_STEADY_CAPACITY: Final = frozenset({STEADY, RENAMED, NEW_NAME})
"""Models whose backends stay; the third one gains and loses some, which is no delay of reloads."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Run:
    """One run, from an empty folder to its figures."""

    def __init__(self, options: Options, folder: Path) -> None:
        self.options = options
        self.folder = folder
        *free, port = free_ports(len(SERVERS) + 1)
        self.planner = Planner(options.seed, ports_of(free))
        self.disk = Disk(folder / "conf")
        self.disk.write(self.planner.text().encode(), Writer.ATOMIC)
        self.at_start = serving(self.planner.shape)
        self.steps = self.planner.steps(options.counts)
        self.burst_steps = self.planner.burst(int(options.burst_s * BURST_PER_S))
        self.servers = Servers(folder, ports_of(free), options.time_scale)
        self.gateway = Gateway(folder, port)
        self.removed = Removed(self.servers)
        self.storm = Storm(options.seed, options.mode, len(self.steps))
        self.records: list[Record] = []
        self.phases: list[Phase] = []

    def __repr__(self) -> str:
        return f"<Run {self.options.mode} {self.storm.log.done} of {len(self.steps)}>"

    async def go(self, children: list[Child]) -> Storm:
        """Set up, storm, judge and tear down."""
        storm, began_s, gateway = self.storm, time.monotonic(), self.gateway
        children += [*self.servers.children.values(), gateway.child]
        gateway.children = children
        await self.servers.start()
        oracle = await know_beforehand(self.folder, children, self.options.seed)
        gateway.start(self.disk.file)
        try:
            async with asyncio.TaskGroup() as group:
                polling = group.create_task(gateway.run())
                if not await gateway.until(gateway.is_all_up, READY_LIMIT_S):
                    raise RuntimeError(f"the gateway is not ready:\n{gateway.child.tail()}")
                await self._under_load(group, oracle)
                polling.cancel()
        except* (RuntimeError, httpx.HTTPError, AssertionError, OSError) as problems:
            storm.stopped_by = "; ".join(repr(error) for error in problems.exceptions)
        await gateway.child.stop()
        storm.exit_code = await gateway.child.until_ended()
        storm.crash_lines = gateway.crash_lines()
        storm.removed_questions = self.removed.questions
        storm.latencies = latencies(self.records, self.phases, _STEADY_CAPACITY)
        storm.duration_s = round(time.monotonic() - began_s, 1)
        await self.servers.close()
        await gateway.close()
        return storm

    async def _under_load(self, group: asyncio.TaskGroup, oracle: Oracle) -> None:
        tails = Tails(httpx.AsyncHTTPTransport(verify=False, limits=_LIMITS))
        http = httpx.AsyncClient(transport=tails, timeout=REQUEST_LIMIT_S)
        async with openai.AsyncOpenAI(
            base_url=f"{self.gateway.base_url}/v1", api_key="none", max_retries=0, http_client=http
        ) as client:
            load = Load(client, tails, oracle, self.options.seed, self._note)
            clients = load.start(group)
            await self._warm_up(load)
            await self._rounds()
            say(f"{len(self.records)} requests; now {len(self.burst_steps)} changes in a burst")
            self.storm.burst = await burst(
                self.burst_steps, BURST_PER_S, self.disk, self.gateway, self.removed
            )
            await load.until_started(WARM_REQUESTS)
            await self._wind_up(load)
            load.stop()
            await asyncio.wait(clients)

    async def _warm_up(self, load: Load) -> None:
        await load.until_started(WARM_REQUESTS)
        await load.pause()
        await self.removed.confirmed(self.at_start)
        self.storm.before = self.gateway.usage()
        load.resume()
        # All clients have just begun at once: let them fall out of step.
        await load.until_started(WARM_REQUESTS)

    async def _rounds(self) -> None:
        driller = Driller(self.disk, self.gateway, self.removed, self.storm.log)
        calm_s = self.options.first_calm_s
        for turn in _turns(self.steps, self.options.rounds):
            bad = sum(not record.is_whole for record in self.records)
            say(f"{len(self.records):5} requests, {bad} not whole; {self.storm.log.done} reloads")
            await self._calm(calm_s, sum(step.trigger is Trigger.CLI for step in turn))
            began_s = time.monotonic()
            for step in turn:
                await driller.carry_out(step)
                await asyncio.sleep(self.options.pause_s)
            self._end_phase(began_s, is_storm=True)
            calm_s = time.monotonic() - began_s

    async def _calm(self, seconds: float, commands: int) -> None:
        """No reload; commands that cost this machine as much as those of a storm."""
        began_s = time.monotonic()
        for number in range(commands):
            at_s = began_s + seconds * number / commands
            await asyncio.sleep(max(0.0, at_s - time.monotonic()))
            await self.gateway.check_by_command(self.disk.file)
        await asyncio.sleep(max(0.0, began_s + seconds - time.monotonic()))
        self._end_phase(began_s, is_storm=False)

    def _end_phase(self, began_s: float, *, is_storm: bool) -> None:
        self.phases.append(Phase(began_s, time.monotonic(), is_storm))

    async def _wind_up(self, load: Load) -> None:
        """Nobody asks any more: what is still held, and who is still asked?"""
        storm, gateway = self.storm, self.gateway
        await load.pause()
        await self.removed.look()
        before = storm.before
        assert before is not None
        deadline_s = time.monotonic() + QUIET_LIMIT_S
        while time.monotonic() < deadline_s:
            storm.in_flight_left, storm.after = await gateway.in_flight(), gateway.usage()
            if storm.in_flight_left == 0 and storm.after.fds <= before.fds + MOST_FDS:
                break
            await asyncio.sleep(_QUIET_POLL_S)
        # Removed backends are idle: nothing may ask them, not even for their health.
        seen = await self.removed.requests()
        await asyncio.sleep(_PROBES_MAY_END_S)
        storm.removed_probes = await self.removed.requests() - seen

    def _note(self, record: Record) -> None:
        self.records.append(record)
        self.storm.verdicts[record.judgement.verdict] += 1
        if not record.is_whole:
            self._tell(record)

    def _tell(self, record: Record) -> None:
        at_s = time.time() - time.monotonic() + record.start_s
        line = {
            "start": time.strftime("%H:%M:%S", time.gmtime(at_s)) + f"{at_s % 1:.3f}"[1:],
            "seconds": round(record.end_s - record.start_s, 3),
            "model": record.model,
            "is_stream": record.is_stream,
            "verdict": record.judgement.verdict.value,
            "reason": record.judgement.reason,
            "request_id": record.request_id,
        }
        with (self.folder / "failures.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


_LIMITS: Final = httpx.Limits(max_connections=None, max_keepalive_connections=None)


def _turns(steps: list[Step], rounds: int) -> list[list[Step]]:
    """The steps in so many parts of about the same size."""
    cuts = [len(steps) * number // rounds for number in range(rounds + 1)]
    return [steps[start:end] for start, end in pairwise(cuts)]


def _cpu_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    found = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in found)


async def _until_signalled(options: Options, folder: Path) -> Storm:
    """The run; Ctrl-C, SIGTERM and SIGHUP end it in order."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with children_end() as children:
        say(f"starting the servers and the gateway; logs are in {folder}")
        return await Run(options, folder).go(children)


def main() -> int:
    options = parse()
    # The run talks to this machine only, whatever proxy the environment names.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    if options.keep is None:
        folder = Path(tempfile.mkdtemp(prefix="reload-storm-"))
    else:
        folder = options.keep.resolve()
        folder.mkdir(parents=True, exist_ok=True)
    began_s = time.monotonic()
    try:
        storm = asyncio.run(_until_signalled(options, folder))
    except asyncio.CancelledError:
        say(f"\nbroken off; logs are in {folder}")
        return 130
    except (RuntimeError, OSError) as error:
        say(f"the run could not be set up: {error}\nlogs are in {folder}")
        return 2
    storm.cpu_ratio = round(_cpu_s() / (time.monotonic() - began_s) / (os.cpu_count() or 1), 3)
    say(summary(storm))
    if storm.missed:
        say(f"logs and what was not whole (failures.jsonl): {folder}")
    elif options.keep is None:
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)
    print(json.dumps(as_json(storm), ensure_ascii=False), flush=True)
    return 1 if storm.missed else 0
