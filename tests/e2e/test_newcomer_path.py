"""From a launch script to a running gateway and back: adopt, check, serve, change, go back."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import openai
import yaml

from gateway.emulator.fleet import EmulatedFleet
from tests.support.fleet import spec
from tests.support.gateway import GatewayClient
from tests.support.process import COMMAND, free_port
from tests.support.waiting import LIMIT_S, eventually

SCRIPT = """#!/bin/bash
export HCCL_BUFFSIZE=512
COMMON=(--dtype float16 --max-num-seqs 8)
MODEL_9B=${{MODEL_9B:-/models/Qwen3.5-9B}}
ASCEND_RT_VISIBLE_DEVICES=0,1 nohup vllm serve "$MODEL_9B" --served-model-name qwen3.5-9b \\
  --port {a} -tp 2 "${{COMMON[@]}}" \\
  --compilation-config '{{"cudagraph_mode": "FULL_DECODE_ONLY",
                         "cudagraph_capture_sizes": [1, 4]}}' > 9b.log 2>&1 &
ASCEND_RT_VISIBLE_DEVICES=2,3 vllm serve /models/Qwen3.5-27B --served-model-name=qwen3.5-27b \\
  --port={b} --tensor-parallel-size 2 "${{COMMON[@]}}" \\
  --compilation-config '{{"cudagraph_capture_sizes":[1,4]}}'
"""


class Ended(NamedTuple):
    status: int
    out: str
    err: str


class Operator:
    """Somebody at a terminal, in a folder."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("ASCEND_GATEWAY_")},
            "ASCEND_GATEWAY_PORT": str(port),
            "XDG_STATE_HOME": str(folder / "state"),
            "LC_ALL": "C.UTF-8",
        }

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", COMMAND, *words),
            cwd=self.folder,
            env=self.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
        )

    async def run(self, *words: str) -> Ended:
        process = await self.start(*words)
        out, err = await asyncio.wait_for(process.communicate(), 3 * LIMIT_S)
        return Ended(process.returncode or 0, out.decode(), err.decode())


async def answer_of(port: int, name: str) -> str:
    async with openai.AsyncOpenAI(
        base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0
    ) as client:
        answer = await client.chat.completions.create(
            model=name, messages=[{"role": "user", "content": "hi"}], max_tokens=4
        )
        return answer.model


async def test_the_way_of_a_newcomer(tmp_path: Path) -> None:
    specs = [
        spec("a", "qwen3.5-9b", root="/models/Qwen3.5-9B", dev_mode=True),
        spec("b", "qwen3.5-27b", "310p-27b-graph", root="/models/Qwen3.5-27B", dev_mode=True),
    ]
    async with EmulatedFleet(specs) as fleet:
        ports = {b.spec.name: int(b.url.rsplit(":", 1)[1]) for b in fleet.backends}
        (tmp_path / "start.sh").write_text(SCRIPT.format(**ports))
        port = free_port()
        me = Operator(tmp_path, port)

        adopted = await me.run("adopt", "script", "start.sh", "-o", "routing.yaml")
        assert adopted.status == 0, adopted.err
        assert "seqs_above_capture" in adopted.err
        again = await me.run("adopt", "script", "start.sh", "-o", "routing.yaml")
        assert again.status == 2, "an existing file is not overwritten"

        checked = await me.run("config", "check", "routing.yaml", "--probe", "--timeout", "20")
        assert checked.status == 0, checked.out
        assert checked.out.count("as configured") == 2, checked.out
        assert "--max-num-seqs 4" in checked.out

        server = await me.start("serve", "--config-file", "routing.yaml", "--no-watch-config")
        try:
            gateway = GatewayClient("127.0.0.1", port)
            await is_ready(gateway, server)
            assert await answer_of(port, "qwen3.5-9b") == "qwen3.5-9b"
            await change_and_go_back(me, gateway, port)
        finally:
            server.send_signal(signal.SIGTERM)
            await asyncio.wait_for(server.communicate(), LIMIT_S)
        assert server.returncode == 0


async def change_and_go_back(me: Operator, gateway: GatewayClient, port: int) -> None:
    file = me.folder / "routing.yaml"
    before = file.read_text()
    tree = yaml.safe_load(before)
    tree["models"][0]["aliases"] = ["nine"]
    tree["backends"].pop(1)
    tree["models"].pop(1)
    (me.folder / "new.yaml").write_text(yaml.safe_dump(tree, allow_unicode=True))

    told = await me.run("config", "diff", "new.yaml")
    assert told.status == 0, told.err
    assert "qwen3.5-27b" in told.out
    assert "nine" in told.out
    assert (await gateway.health())["config"]["by"] == "start"

    (me.folder / "new.yaml").rename(file)
    reloaded = await me.run("reload")
    assert reloaded.status == 0, reloaded.err
    assert await answer_of(port, "nine") == "nine"
    assert (await gateway.chat("qwen3.5-27b")).status == 404

    good = file.read_text()
    file.write_text(good.replace("version: 1", "version 1"))
    refused = await me.run("reload")
    assert refused.status == 1
    assert "yaml_syntax" in refused.out + refused.err
    assert await answer_of(port, "nine") == "nine"
    file.write_text(good)
    assert (await me.run("reload")).status == 0

    listed = await me.run("config", "history")
    assert listed.status == 0
    assert sum("start" in line or "admin" in line for line in listed.out.splitlines()) >= 2
    back = await me.run("config", "rollback", "--yes")
    assert back.status == 0, back.err
    assert file.read_text() == before
    assert await answer_of(port, "qwen3.5-27b") == "qwen3.5-27b"
    assert (await gateway.chat("nine")).status == 404


async def is_ready(gateway: GatewayClient, server: asyncio.subprocess.Process) -> None:
    async def seen() -> bool:
        assert server.returncode is None
        try:
            states = {b["state"] for b in (await gateway.health())["backends"].values()}
        except OSError:
            return False
        return states == {"up"}

    await eventually(seen)
