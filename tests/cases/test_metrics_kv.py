"""Reports about the engines' own figures: renamed, missing, illegible, or never ending."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.cases.exposition import NEW_NAME, OLD_NAME, TEXT, Exposed, Figures
from tests.support import answers, wire
from tests.support.gateway import CHAT, GatewayClient, running_gateway
from tests.support.metrics import Samples
from tests.support.process import GatewayProcess, gateway_process
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually

SCRAPES_S = 0.1
CAPACITY = 64_000


def fleet_of(*upstreams: ScriptedUpstream, **fields: object) -> Tree:
    """The model m1 on u1, u2 and so on."""
    names = [f"u{number}" for number in range(1, len(upstreams) + 1)]
    entries = [backend(name, one) for name, one in zip(names, upstreams, strict=True)]
    return routes(entries, [model("m1", *names, **fields)], health={"canary": False})


async def seen_often(upstream: ScriptedUpstream, seen: list[Exposed], more: int = 3) -> None:
    """Wait until each was looked at some times more."""
    wanted = [one.looks + more for one in seen]

    async def is_seen() -> bool:
        return all(one.looks >= least for one, least in zip(seen, wanted, strict=True))

    await eventually(is_seen)
    assert upstream.probes


async def in_turn(gateway: GatewayClient, count: int, *, stream: bool = False) -> None:
    """So many requests, one after the other; each prompt is new, and long enough to need memory."""
    for number in range(count):
        prompt = [{"role": "user", "content": f"tell me {number} times: " + "and more " * 400}]
        answer = await gateway.chat("m1", messages=prompt, stream=stream, max_tokens=300)
        assert answer.status == 200


@pytest.mark.case("metrics-kv-1")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("rule", ["least_cost", "least_kv"])
@pytest.mark.parametrize("kv_tokens", [CAPACITY, None], ids=["capacity", "no-capacity"])
async def test_metrics_kv_1(kv_tokens: int | None, rule: str, stream: bool) -> None:
    """Two engines each that work for others; hybrid models do not tell their capacity."""
    seen = [
        Exposed(Figures(2, 0, 0.95, OLD_NAME, kv_tokens, engines=2)),
        Exposed(Figures(2, 0, 0.10, NEW_NAME, kv_tokens, engines=2)),
        Exposed(Figures(2, 0, None, NEW_NAME, kv_tokens, engines=2)),
    ]
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        ScriptedUpstream("m1") as u3,
    ):
        for upstream, exposed in zip((u1, u2, u3), seen, strict=True):
            upstream.handlers["/metrics"] = exposed
        config = fleet_of(u1, u2, u3, placement=rule)
        async with running_gateway(config, scrape_interval_s=SCRAPES_S) as gateway:
            await seen_often(u1, seen)
            await in_turn(gateway, 30, stream=stream)
            first, second, third = (len(one.requests) for one in (u1, u2, u3))
            told = f"{first} {second} {third}"
            assert 2 * first < second, f"the nearly full one is not avoided: {told}"
            assert second >= third - 18, f"unknown is not empty: {told}"


@pytest.mark.parametrize("rule", ["least_cost", "least_kv"])
async def test_both_names_at_once_and_several_engines_are_combined(rule: str) -> None:
    """An exporter between old and new writes both; what counts is the newer name."""
    seen = [Exposed(Figures(running=2, kv_ratio=ratio, kv_tokens=CAPACITY)) for ratio in (0.97, 0)]

    async def both(exchange: Exchange) -> None:
        old = "\n".join(f'vllm:{OLD_NAME}{{engine="{e}",model_name="m1"}} 0.0' for e in (0, 1))
        text = f"{seen[0].figures.text()}{old}\n"
        await exchange.answer(200, text.encode(), content_type=TEXT)
        seen[0].looks += 1

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers["/metrics"], u2.handlers["/metrics"] = both, seen[1]
        config = fleet_of(u1, u2, placement=rule)
        async with running_gateway(config, scrape_interval_s=SCRAPES_S) as gateway:
            await seen_often(u1, seen)
            await in_turn(gateway, 12)
            assert len(u2.requests) > len(u1.requests) + 3


async def test_the_health_page_shows_either_name() -> None:
    """Old and new alike, the mean over engines; without either there is no number."""
    seen = [
        Exposed(Figures(kv_ratio=0.25, kv_name=OLD_NAME, engines=2)),
        Exposed(Figures(kv_ratio=0.25, kv_name=NEW_NAME)),
        Exposed(Figures(kv_ratio=None)),
    ]
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        ScriptedUpstream("m1") as u3,
    ):
        for upstream, exposed in zip((u1, u2, u3), seen, strict=True):
            upstream.handlers["/metrics"] = exposed
        config = fleet_of(u1, u2, u3)
        async with running_gateway(
            config, scrape_interval_s=SCRAPES_S, probe_interval_s=SCRAPES_S
        ) as gateway:
            await seen_often(u1, seen)

            async def told() -> list[object]:
                backends = (await gateway.health())["backends"].values()
                engines = [one["engine"] for one in backends]
                return [] if None in engines else [one["kv_usage_ratio"] for one in engines]

            assert await eventually(told) == [0.25, 0.25, None]


async def never_ends(exchange: Exchange) -> None:
    await exchange.start_stream()
    while True:
        await exchange.event(b"# still writing\n")
        await asyncio.sleep(0.02)


async def is_huge(exchange: Exchange) -> None:
    text = Figures().text().encode()
    await exchange.answer(200, text + b"# HELP x y\n" * (50 * 1024 * 1024 // 11), content_type=TEXT)


async def garbage(exchange: Exchange) -> None:
    await exchange.answer(200, b"\x00\xff{]}" * 1000 + b"\nvllm:num_requests_running NaNN\n")


def status(code: int) -> Callable[[Exchange], Awaitable[None]]:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(code, b'{"detail":"no"}')

    return answer


async def unfinished(exchange: Exchange) -> None:
    text = Figures(running=7).text().encode()
    await exchange.answer(200, text[: len(text) // 2], content_type=TEXT)


async def cut(exchange: Exchange) -> None:
    await exchange.write(wire.head(200, [("content-length", "100000")]) + b"vllm:num_requests")
    exchange.close()


async def silent(exchange: Exchange) -> None:
    await exchange.peer_closed()


BROKEN: dict[str, Callable[[Exchange], Awaitable[None]]] = {
    "404": status(404),
    "500": status(500),
    "401": status(401),
    "garbage": garbage,
    "huge": is_huge,
    "never-ends": never_ends,
    "silent": silent,
    "half": unfinished,
    "cut": cut,
}


async def late(exchange: Exchange) -> None:
    await asyncio.sleep(0.2)
    await answers.usual(exchange)


async def answered_by(gateway: GatewayClient, count: int, *, stream: bool) -> None:
    told = await asyncio.gather(*(gateway.chat("m1", stream=stream) for _ in range(count)))
    assert [answer.status for answer in told] == [200] * count


def scrape_errors(samples: Samples) -> Counter[str]:
    """Failed looks by backend, under whatever name that speaks of scrapes."""
    found: Counter[str] = Counter()
    for name, labels, value in samples.samples:
        if "scrape" in name and name.endswith("_total") and "backend" in labels:
            found[labels["backend"]] += int(value)
    return found


@pytest.mark.case("metrics-kv-3")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("how", BROKEN)
async def test_metrics_kv_3(how: str, stream: bool) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        for upstream in (u1, u2):
            upstream.handlers.update({"/metrics": BROKEN[how], CHAT: late})
        async with running_gateway(fleet_of(u1, u2), scrape_interval_s=SCRAPES_S) as gateway:
            await u1.until(lambda: paths(u1).count("/metrics") >= 2, 30.0)
            await answered_by(gateway, 40, stream=stream)
            counts = [len(u1.requests), len(u2.requests)]
            assert max(counts) <= 26, counts
            told = (await gateway.health())["backends"]
            assert [told[name]["state"] for name in ("u1", "u2")] == ["up", "up"]


@pytest.mark.parametrize("how", ["404", "garbage", "silent"])
async def test_failed_looks_are_counted_and_shown(how: str) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers["/metrics"] = BROKEN[how]
        u2.handlers["/metrics"] = Exposed(Figures())
        async with running_gateway(fleet_of(u1, u2), scrape_interval_s=SCRAPES_S) as gateway:
            await u1.until(lambda: paths(u1).count("/metrics") >= 3, 30.0)
            errors = scrape_errors(await gateway.metrics())
            assert errors["u1"] >= 1, "failed scrapes are not counted"
            assert errors["u2"] == 0


async def test_one_without_figures_shares_evenly_with_one_that_has_some() -> None:
    """Only what we know of ourselves decides: the unknown one is neither empty nor full."""
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers.update({"/metrics": BROKEN["404"], CHAT: late})
        u2.handlers.update({"/metrics": Exposed(Figures()), CHAT: late})
        async with running_gateway(fleet_of(u1, u2), scrape_interval_s=SCRAPES_S) as gateway:
            await u1.until(lambda: paths(u1).count("/metrics") >= 2)
            await answered_by(gateway, 40, stream=True)
            counts = [len(u1.requests), len(u2.requests)]
            assert max(counts) <= 26, counts


@pytest.mark.parametrize("how", ["huge", "never-ends"])
async def test_memory_is_bounded(how: str, tmp_path: Path) -> None:
    """A process of its own, so that nothing but the gateway's memory is measured."""
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers["/metrics"] = u2.handlers["/metrics"] = BROKEN[how]
        arguments = ("--scrape-interval-s", "0.1", "--probe-interval-s", "0.2")
        async with gateway_process(fleet_of(u1, u2), tmp_path, *arguments) as gateway:
            before = resident_mib(gateway)
            looks = paths(u1).count("/metrics")
            await u1.until(lambda: paths(u1).count("/metrics") >= looks + 4, 60.0)
            await answered_by(gateway, 40, stream=False)
            assert resident_mib(gateway) < before + 80


def resident_mib(gateway: GatewayProcess) -> float:
    status_text = Path(f"/proc/{gateway.process.pid}/status").read_text(encoding="utf-8")
    (line,) = (one for one in status_text.splitlines() if one.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def paths(upstream: ScriptedUpstream) -> list[str]:
    return [probe.path for probe in upstream.probes]
