"""The commands of operators against a running gateway: what they print and how they exit."""

import asyncio
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from gateway.cli.main import main
from tests.support import answers
from tests.support.connection import Exchange
from tests.support.reloading import Reloaded, as_text, reloadable
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import ScriptedUpstream

CHAT = "/v1/chat/completions"


def m1(*backends: Tree) -> Tree:
    return routes(list(backends), [model("m1", *(b["name"] for b in backends))])


async def run(running: Reloaded, *words: str, stdin: str | None = None) -> Result:
    """The command in a thread, since the gateway lives in this loop."""
    where = ("--url", running.gateway.base_url)
    language = () if "--lang" in words else ("--lang", "en")
    return await asyncio.to_thread(
        CliRunner().invoke, main, [*words, *where, *language], input=stdin
    )


async def test_reload_tells_by_its_exit_status(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        both = m1(backend("u1", u1), backend("u2", u2))
        async with reloadable(tmp_path, m1(backend("u1", u1)), watch_config=False) as running:
            same = await run(running, "reload")
            assert same.exit_code == 0, same.output
            running.write(both)
            applied = await run(running, "reload")
            assert applied.exit_code == 0
            assert "u2" in applied.output
            running.write(as_text(both).replace("u2", "u1"))
            refused = await run(running, "reload", "--lang", "zh")
            assert refused.exit_code == 1
            assert "backend_name_twice" in refused.output
            assert "已是" in refused.output
            told = json.loads((await run(running, "reload", "--json")).stdout)
            assert told["result"] == "refused"
            assert {p["code"] for p in told["problems"]} >= {"backend_name_twice"}


@pytest.mark.parametrize("words", [("reload",), ("drain", "x"), ("config", "history")])
def test_no_gateway_there(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, [*words, "--url", "http://127.0.0.1:1"])
    assert result.exit_code == 2
    assert "127.0.0.1:1" in result.output


async def test_diff_says_what_would_change_and_for_whom(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def hold(exchange: Exchange) -> None:
        await go_on.wait()
        await answers.usual(exchange)

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u2.handlers[CHAT] = u1.handlers[CHAT] = hold
        both = m1(backend("u1", u1), backend("u2", u2))
        new = tmp_path / "new.yaml"
        async with reloadable(tmp_path, both) as running:
            asked = [asyncio.create_task(running.gateway.chat("m1")) for _ in range(2)]
            await u1.until(lambda: u1.requests)
            await u2.until(lambda: u2.requests)
            new.write_text(as_text(m1(backend("u1", u1))))
            told = await run(running, "config", "diff", str(new))
            assert told.exit_code == 0
            assert "m1 loses backend u2: 1 request will drain" in told.output
            status = await run(running, "config", "diff", str(new), "--exit-code")
            assert status.exit_code == 3
            new.write_text(as_text(both))
            nothing = await run(running, "config", "diff", str(new), "--exit-code")
            assert nothing.exit_code == 0
            new.write_text("version: 1\n")
            bad = await run(running, "config", "diff", str(new))
            assert bad.exit_code == 1
            assert "missing_field" in bad.output
            go_on.set()
            assert {answer.status for answer in await asyncio.gather(*asked)} == {200}


def test_diff_of_two_files_needs_no_gateway(tmp_path: Path) -> None:
    entry = {"name": "a", "url": "http://h:1", "served_name": "m", "max_num_seqs": 8}
    files = [tmp_path / "old.yaml", tmp_path / "new.yaml"]
    for file, seqs in zip(files, (8, 4), strict=True):
        file.write_text(yaml.safe_dump(m1({**entry, "max_num_seqs": seqs})))
    words = ["config", "diff", *map(str, files)]
    result = CliRunner().invoke(main, [*words, "--lang", "en"])
    assert result.exit_code == 0
    assert "max_num_seqs" in result.output
    assert CliRunner().invoke(main, [*words, "--exit-code"]).exit_code == 3
    gone = CliRunner().invoke(main, ["config", "diff", str(files[0]), str(tmp_path / "no")])
    assert gone.exit_code == 2


async def test_history_and_back(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        reloadable(tmp_path, m1(backend("u1", u1))) as running,
    ):
        before = running.file.read_text()
        first = (await running.config())["version"]
        second = await running.change(m1(backend("u2", u2)))
        listed = await run(running, "config", "history")
        assert listed.exit_code == 0
        assert first in listed.output
        assert "in force" in next(ln for ln in listed.output.splitlines() if second in ln)
        text = await run(running, "config", "history", first)
        assert text.stdout == before
        assert (await run(running, "config", "history", "nothing")).exit_code == 1
        no = await run(running, "config", "rollback", stdin="n\n")
        assert no.exit_code != 0
        assert (await running.config())["version"] == second
        back = await run(running, "config", "rollback", "--yes")
        assert back.exit_code == 0, back.output
        assert (await running.config())["version"] == first
        assert running.file.read_text() == before


async def test_drain_waits_until_nothing_runs_there(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def hold(exchange: Exchange) -> None:
        await go_on.wait()
        await answers.usual(exchange)

    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = hold
        async with reloadable(tmp_path, m1(backend("u1", u1))) as running:
            request = asyncio.create_task(running.gateway.chat("m1"))
            await u1.until(lambda: u1.requests)
            late = await run(running, "drain", "u1", "--wait", "--timeout", "0.2")
            assert late.exit_code == 3
            words = ("drain", "u1", "--wait", "--interval", "0.05", "--reason", "new memory")
            waiting = asyncio.create_task(run(running, *words))
            await asyncio.sleep(0.2)
            assert not waiting.done()
            go_on.set()
            assert (await request).status == 200
            assert (await waiting).exit_code == 0
            health = await running.gateway.health()
            assert "new memory" in health["backends"]["u1"]["reason"]
            back = await run(running, "undrain", "u1")
            assert back.exit_code == 0
            assert (await running.gateway.chat("m1")).status == 200
            unknown = await run(running, "drain", "u2")
            assert unknown.exit_code == 1
            assert "u1" in unknown.output
