"""Two real vLLM servers, the gateway in front of them, and the official clients.

Everything here lasts for the whole run: a server takes about a minute to start.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anthropic
import openai
import pytest
import yaml

from tests.vllm.servers import Engine, Gateway, free_port, until

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
START = HERE / "real_backend" / "start_real_vllm.sh"


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Engine]]:
    """qwen3.5-9b and qwen3.5-27b, by served name."""
    state = tmp_path_factory.mktemp("realvllm")
    made = {name: Engine(name, free_port(), state) for name in ("qwen3.5-9b", "qwen3.5-27b")}
    # One thread for each engine: on two cores their spinning would starve gateway and clients.
    environment = {
        **os.environ,
        "REAL_VLLM_STATE": str(state),
        "OMP_NUM_THREADS": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    }
    wanted = [f"{engine.served_name}={engine.port}" for engine in made.values()]
    try:
        subprocess.run([START, "start", *wanted], env=environment, check=True)
        yield made
    finally:
        subprocess.run([START, "stop"], env=environment, check=True)


def routing(engines: dict[str, Engine]) -> str:
    """The routing file: container names that mislead, as on the host that this is modelled on."""
    containers = {"qwen3.5-9b": "vllm-ascend-qwen3.5", "qwen3.5-27b": "vllm-ascend-qwen3"}
    backends = [
        {
            "name": engine.served_name.replace("qwen3.5-", "real-"),
            "url": engine.url,
            "served_name": engine.served_name,
            "root": "tiny-qwen3",
            # The one that is killed goes first, so that the other one has to go on for it.
            "tier": "graph" if engine.served_name == "qwen3.5-27b" else "eager",
            "max_num_seqs": 8,
            "max_model_len": 4096,
            "container": containers[engine.served_name],
        }
        for engine in engines.values()
    ]
    models = [
        {"name": "qwen3.5-9b", "aliases": ["gpt-4o-mini"], "backends": ["real-9b"]},
        {"name": "qwen3.5-27b", "backends": ["real-27b"]},
        # Both engines run the same weights.
        {"name": "twin-text", "backends": ["real-27b", "real-9b"], "resume": "text"},
        {"name": "twin-exact", "backends": ["real-27b", "real-9b"], "resume": "exact"},
    ]
    return yaml.safe_dump({"version": 1, "backends": backends, "models": models})


@pytest.fixture(scope="session")
def gateway(
    engines: dict[str, Engine], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    """`ascend-gateway serve` as an operator starts it."""
    folder = tmp_path_factory.mktemp("gateway")
    (folder / "routing.yaml").write_text(routing(engines), encoding="utf-8")
    port, log = free_port(), folder / "gateway.log"
    command = [sys.executable, "-m", "gateway.cli.main", "serve"]
    options = ["--config-file", str(folder / "routing.yaml"), "--port", str(port)]
    environment = {**os.environ, "ASCEND_GATEWAY_PROBE_INTERVAL_S": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
    made = Gateway(f"http://127.0.0.1:{port}")

    def is_ready() -> bool:
        assert process.poll() is None, log.read_text()
        return made.health().get("status") == "ok"

    try:
        until(is_ready, 60, "the gateway says ok")
        yield made
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            print(log.read_text(errors="replace")[-20_000:])


@pytest.fixture(scope="session")
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    """The official OpenAI client; it tries nothing twice, so that each failure shows."""
    with (
        openai.DefaultHttpxClient(trust_env=False) as transport,
        openai.OpenAI(
            base_url=f"{gateway.url}/v1", api_key="none", max_retries=0, http_client=transport
        ) as made,
    ):
        yield made


@pytest.fixture(scope="session")
def claude(gateway: Gateway) -> Iterator[anthropic.Anthropic]:
    """The official Anthropic client."""
    with (
        anthropic.DefaultHttpxClient(trust_env=False) as transport,
        anthropic.Anthropic(
            base_url=gateway.url, api_key="none", max_retries=0, http_client=transport
        ) as made,
    ):
        yield made
