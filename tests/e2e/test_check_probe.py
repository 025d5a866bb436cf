"""`config check --probe` against servers that are, and are not, what the routing file says."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from gateway.cli.config import config
from gateway.emulator.fleet import EmulatedFleet
from tests.support.fleet import spec
from tests.support.routing import Tree, backend, model, routes


async def check(folder: Path, tree: Tree, *options: str) -> Result:
    """The command in a thread, since the servers live in this loop."""
    file = folder / "routing.yaml"
    file.write_text(yaml.safe_dump(tree))
    args = ["check", str(file), "--probe", "--timeout", "20", *options]
    return await asyncio.to_thread(CliRunner().invoke, config, args)


def graph(name: str, url: str, **fields: Any) -> Tree:
    base = {"served_name": name, "capture_sizes": [1, 4], "max_num_seqs": 8, "chip": "310P"}
    return backend(name, url, **{**base, **fields})


async def test_each_difference_is_found(tmp_path: Path) -> None:
    specs = [
        spec("good", "good", root="/models/good", dev_mode=True),
        spec("wrong", "other", dev_mode=True),
        spec("root", "root", root="/models/else", dev_mode=True),
        spec("short", "short", max_model_len=4096, dev_mode=True),
        spec("eager", "eager", "310p-9b-eager", dev_mode=True),
        spec("slow", "slow", "310p-9b-eager", time_scale=1.0),
    ]
    async with EmulatedFleet(specs) as fleet:
        urls = {b.spec.name: b.url for b in fleet.backends}
        entries = [
            graph("good", urls["good"], root="/models/good"),
            graph("wrong", urls["wrong"]),
            graph("root", urls["root"], root="/models/root"),
            graph("short", urls["short"], max_model_len=8192),
            graph("eager", urls["eager"]),
            graph("slow", urls["slow"]),
            graph("gone", "http://127.0.0.1:1"),
            graph("off", "http://127.0.0.1:2", enabled=False),
        ]
        tree = routes(entries, [model("m", *(e["name"] for e in entries))])
        result = await check(tmp_path, tree, "--format", "json")
        assert result.exit_code == 1, result.output
        report = json.loads(result.output)
        found = {(one["backend"], one["kind"], one["severity"]) for one in report["drift"]}
        assert found == {
            ("wrong", "name_missing", "error"),
            ("root", "other_root", "error"),
            ("short", "shorter_context", "warning"),
            ("eager", "eager_instead_of_graph", "error"),
            ("slow", "probably_eager", "warning"),
            ("gone", "unreachable", "error"),
        }
        assert {one["option"] for one in report["advice"]} == {"--max-num-seqs 4"}
        accounts = {one["name"]: one["account"] for one in report["backends"]}
        assert accounts["off"] is None
        assert accounts["good"]["capture_sizes"] == [1, 4]
        assert accounts["good"]["is_eager"] is False
        assert 4.0 < accounts["slow"]["decode_tokens_per_s"] < 8.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], ["asked: good: as configured", "ok, 0 errors", "advice: backend good"]),
        (["--lang", "zh"], ["已询问：good：与路由文件一致", "可用", "建议：后端 good"]),
    ],
)
async def test_what_is_as_it_says_passes(
    tmp_path: Path, options: list[str], words: list[str]
) -> None:
    async with EmulatedFleet([spec("good", "good", dev_mode=True)]) as fleet:
        tree = routes([graph("good", fleet.backends[0].url)], [model("m", "good")])
        result = await check(tmp_path, tree, *options)
        assert result.exit_code == 0, result.output
        for word in words:
            assert word in result.output


async def test_strict_counts_what_is_only_slow(tmp_path: Path) -> None:
    specs = [spec("short", "short", max_model_len=4096, dev_mode=True)]
    async with EmulatedFleet(specs) as fleet:
        entry = graph("short", fleet.backends[0].url, max_model_len=8192, max_num_seqs=4)
        tree = routes([entry], [model("m", "short")])
        assert (await check(tmp_path, tree)).exit_code == 0
        assert (await check(tmp_path, tree, "--strict")).exit_code == 1


async def test_a_key_that_is_not_here_is_told(tmp_path: Path) -> None:
    async with EmulatedFleet([spec("a", "a", dev_mode=True)]) as fleet:
        entry = graph("a", fleet.backends[0].url, api_key_env="NO_SUCH_VARIABLE")
        result = await check(tmp_path, routes([entry], [model("m", "a")]))
        assert "key_missing" in result.output
        assert "NO_SUCH_VARIABLE" in result.output
