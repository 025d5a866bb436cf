"""`adopt probe` against servers that run: found, asked, and merged with their script."""

import asyncio
from pathlib import Path

import yaml
from click.testing import CliRunner, Result

from gateway.cli.adopt import adopt
from gateway.config.load import load_text
from gateway.emulator.fleet import EmulatedFleet
from tests.support.fleet import spec


async def run(*words: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, adopt, [*words, "--lang", "en"])


async def test_servers_in_a_range_of_ports_become_backends() -> None:
    specs = [
        spec("a", "qwen3.5-9b", root="/models/Qwen3.5-9B", dev_mode=True),
        spec("b", "qwen3-8b", "310p-9b-eager", root="/models/Qwen3-8B", dev_mode=True),
        spec("c", "plain", root="/models/plain"),
    ]
    async with EmulatedFleet(specs) as fleet:
        ports = sorted(int(b.url.rsplit(":", 1)[1]) for b in fleet.backends)
        # Next to each a port where most likely nobody listens.
        listed = ",".join(f"{port},{port + 1}" for port in ports)
        result = await run("probe", f"http://127.0.0.1:{listed}", "--timeout", "20")
        assert result.exit_code == 0, result.stderr
        loaded = load_text(result.stdout, "r.yaml")
        assert loaded.config is not None, loaded.render()
        found = {b.served_name: b for b in loaded.config.backends}
        assert set(found) == {"qwen3.5-9b", "qwen3-8b", "plain"}
        assert found["qwen3.5-9b"].capture_sizes == (1, 4)
        assert found["qwen3-8b"].tier == "eager"
        assert found["qwen3.5-9b"].root == "/models/Qwen3.5-9B"
        assert found["plain"].max_num_seqs is None
        assert "account_failed" not in result.stderr


async def test_a_script_and_the_server_that_runs_are_one_backend(tmp_path: Path) -> None:
    specs = [spec("a", "nine", root="/models/Qwen3.5-9B", dev_mode=True, max_model_len=4096)]
    async with EmulatedFleet(specs) as fleet:
        url = fleet.backends[0].url
        script = tmp_path / "serve.sh"
        script.write_text(
            f"vllm serve /models/Qwen3.5-9B --served-model-name nine --port {url.rsplit(':')[-1]} "
            "--max-model-len 8192 --max-num-seqs 8\n"
        )
        result = await run("script", str(script), "--probe", url, "--timeout", "20")
        assert result.exit_code == 0, result.stderr
        (backend,) = yaml.safe_load(result.stdout)["backends"]
        assert (backend["max_model_len"], backend["capture_sizes"]) == (4096, [1, 4])
        assert "max_model_len: 4096 in http" in result.stderr
        assert "8192 in" in result.stderr


async def test_something_else_listens_there() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi")
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        result = await run("probe", f"http://127.0.0.1:{port}", "--timeout", "20")
    assert result.exit_code == 1
    assert "it is no vLLM server" in result.stderr
