"""Run an emulated fleet and the gateway in front of it, and show how to talk to it.

    python scripts/demo.py [--port 8000] [--check-and-exit]

Stays up until Ctrl-C. With --check-and-exit it runs the snippets that it prints and leaves with 0
if both got an answer.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
COMMAND = (sys.executable, "-m", "gateway.cli.main")
FLEET = "config/emulated-fleet.yaml"
ROUTING = "config/demo.yaml"
READY_LIMIT_S = 90.0
STOP_LIMIT_S = 20.0
POLL_S = 0.1

# The demo talks to this machine only, whatever proxy the environment names.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class DemoError(Exception):
    """Something that the person at the terminal has to know."""


class Part:
    """One process of the demo, with its output kept for the case that it dies."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.name = name
        self.output = tempfile.TemporaryFile(mode="w+b")  # noqa: SIM115 - closed in stop()
        self.state = tempfile.TemporaryDirectory()  # removed in stop()
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=ROOT,
            env={**os.environ, "XDG_STATE_HOME": self.state.name},
            stdout=self.output,
            stderr=subprocess.STDOUT,
            # A group of its own: Ctrl-C reaches only the demo, which then stops its parts in order.
            start_new_session=True,
        )

    def check(self) -> None:
        """Fail if the process has ended."""
        code = self.process.poll()
        if code is not None:
            raise DemoError(f"{self.name} ended with status {code}:\n{self.tail()}")

    def tail(self) -> str:
        """The last lines that the process wrote."""
        self.output.seek(0)
        lines = self.output.read().decode(errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-25:])

    def stop(self) -> None:
        """Ask it to end, and insist if it does not."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.output.close()
        self.state.cleanup()


def say(text: str = "") -> None:
    print(text, flush=True)


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def get(url: str) -> tuple[int, bytes]:
    """Status and body; 0 if nothing answers."""
    try:
        with DIRECT.open(url, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read()
    except OSError:
        return 0, b""


def all_backends_usable(base_url: str) -> bool:
    """Whether the gateway calls itself wholly healthy."""
    status, body = get(f"{base_url}/health")
    return status == 200 and json.loads(body).get("status") == "ok"


def wait_until_ready(base_url: str, parts: tuple[Part, ...]) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    while not all_backends_usable(base_url):
        for part in parts:
            part.check()
        if time.monotonic() > deadline:
            status, body = get(f"{base_url}/health")
            raise DemoError(
                f"the gateway was not ready after {READY_LIMIT_S:.0f} s; {base_url}/health says "
                f"{status} {body.decode(errors='replace')}"
            )
        time.sleep(POLL_S)


@contextlib.contextmanager
def running(port: int) -> Iterator[tuple[Part, ...]]:
    """The emulated fleet and the gateway, stopped in reverse order."""
    with contextlib.ExitStack() as stack:
        fleet = Part("the emulated fleet", "emulate", FLEET)
        stack.callback(fleet.stop)
        gateway = Part("the gateway", "serve", "--config-file", ROUTING, "--port", str(port))
        stack.callback(gateway.stop)
        yield fleet, gateway


def curl_snippet(base_url: str, model: str) -> str:
    message = {"role": "user", "content": "Hello"}
    body = json.dumps({"model": model, "messages": [message], "max_tokens": 32})
    return (
        f"curl -sS --fail-with-body --noproxy '*' {base_url}/v1/chat/completions \\\n"
        f"  -H 'content-type: application/json' \\\n"
        f"  -d '{body}'"
    )


def sdk_snippet(base_url: str, model: str) -> str:
    return f"""\
from openai import OpenAI

client = OpenAI(base_url="{base_url}/v1", api_key="none")
stream = client.chat.completions.create(
    model="{model}",
    messages=[{{"role": "user", "content": "Hello"}}],
    max_tokens=32,
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="", flush=True)
print()"""


def first_models(base_url: str) -> list[str]:
    status, body = get(f"{base_url}/v1/models")
    if status != 200:
        raise DemoError(f"{base_url}/v1/models answered {status}: {body.decode(errors='replace')}")
    return [model["id"] for model in json.loads(body)["data"]]


def run_snippet(name: str, command: list[str]) -> None:
    """Run it as a person would, and fail unless it succeeds and says something."""
    direct = {**os.environ, "NO_PROXY": "*", "no_proxy": "*"}
    done = subprocess.run(
        command, cwd=ROOT, env=direct, capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode or not done.stdout.strip():
        raise DemoError(f"{name} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    say(f"--- {name} answered:\n{done.stdout.strip()}\n")


def check_snippets(curl: str, sdk: str) -> None:
    if shutil.which("curl"):
        run_snippet("curl", ["sh", "-c", curl])
    else:
        say("--- curl is not installed here; only the Python snippet is checked")
    run_snippet("the OpenAI SDK", [sys.executable, "-c", sdk])


def interrupted(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def show(port: int, is_check: bool) -> None:
    base_url = f"http://127.0.0.1:{port}"
    say("starting four emulated vLLM-Ascend backends and the gateway ...")
    with running(port) as parts:
        wait_until_ready(base_url, parts)
        models = first_models(base_url)
        curl, sdk = curl_snippet(base_url, models[0]), sdk_snippet(base_url, models[0])
        say(f"\nthe gateway answers at {base_url}/v1 for: {', '.join(models)}")
        say(f"health: {base_url}/health   metrics: {base_url}/metrics")
        say(f"\nwith curl:\n\n{curl}\n\nwith the OpenAI SDK ({sys.executable}):\n\n{sdk}\n")
        if is_check:
            check_snippets(curl, sdk)
            return
        say("Ctrl-C stops it.")
        while True:
            for part in parts:
                part.check()
            time.sleep(1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="where the gateway listens")
    parser.add_argument("--check-and-exit", action="store_true", help="run the snippets and leave")
    options = parser.parse_args()
    port = options.port
    if not is_free(port):
        port = free_port()
        say(f"port {options.port} is taken on this machine; the gateway takes {port} instead")
    signal.signal(signal.SIGTERM, interrupted)
    try:
        show(port, options.check_and_exit)
    except KeyboardInterrupt:
        say("\nstopped")
    except DemoError as error:
        say(f"\nthe demo failed: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
