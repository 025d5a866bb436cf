"""The real docker client as a judge: what it would ask of a daemon for a command line."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

needs_docker = pytest.mark.skipif(
    shutil.which("docker") is None, reason="there is no docker client to compare with"
)


class _Daemon(ThreadingHTTPServer):
    """Answers as a daemon that makes every container, and keeps what it was asked for."""

    asked: dict[str, Any]


class _Handler(BaseHTTPRequestHandler):
    server: _Daemon
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""

    def _answer(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Api-Version", "1.43")
        self.send_header("Ostype", "linux")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self._answer(200, {})

    def do_GET(self) -> None:
        self._answer(200, {"ApiVersion": "1.43", "OSType": "linux"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if "containers/create" in self.path:
            self.server.asked = {"path": self.path, **json.loads(body)}
        self._answer(201, {"Id": "a" * 64, "Warnings": []})


@contextmanager
def judge() -> Iterator["Judge"]:
    """A daemon on the loopback for as long as it is needed."""
    daemon = _Daemon(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=daemon.serve_forever)
    thread.start()
    try:
        yield Judge(daemon)
    finally:
        daemon.shutdown()
        thread.join()
        daemon.server_close()


class Judge:
    """Asks the client."""

    def __init__(self, daemon: _Daemon) -> None:
        self._daemon = daemon

    def create(self, words: Sequence[str]) -> dict[str, Any] | None:
        """What `docker create WORDS` asks the daemon for; None where the client refuses."""
        done = subprocess.run(
            ["docker", "create", *words],
            env={
                "DOCKER_HOST": f"tcp://127.0.0.1:{self._daemon.server_port}",
                "DOCKER_CONFIG": "/nonexistent",
                "HOME": "/nonexistent",
                "PATH": os.environ["PATH"],
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=30,
        )
        return self._daemon.asked if done.returncode == 0 else None
