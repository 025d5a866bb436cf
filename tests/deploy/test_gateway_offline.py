"""The scripts for hosts without internet, the load balancer's file and the container's check."""

import hashlib
import platform
import socket
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest

from tests.deploy.gateway_tools import DEPLOY, passes, run, tool

OFFLINE = DEPLOY / "offline"
INSTALL = OFFLINE / "install.sh"
CHECK = DEPLOY / "docker" / "healthcheck.py"
THIS_PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


def small_archive(folder: Path) -> Path:
    """An unpacked archive without wheels, whose checksums are right."""
    (folder / "wheels").mkdir(parents=True)
    (folder / "install.sh").write_bytes(INSTALL.read_bytes())
    (folder / "VERSION").write_text("0.0.1\n")
    (folder / "PYTHONS").write_text(f"{THIS_PYTHON}\n")
    (folder / "requirements.lock").write_text("")
    sums = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  ./{file.name}\n"
        for file in sorted(folder.iterdir())
        if file.is_file()
    ]
    (folder / "SHA256SUMS").write_text("".join(sums))
    return folder


@pytest.mark.parametrize("script", sorted(OFFLINE.glob("*.sh")), ids=lambda path: path.name)
def test_shellcheck_finds_nothing(script: Path) -> None:
    passes(tool("shellcheck"), "--shell=sh", script)


def test_a_damaged_archive_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    archive = small_archive(tmp_path / "archive")
    (archive / "requirements.lock").write_text("damaged\n")
    prefix = tmp_path / "opt" / "gateway"
    done = run("sh", archive / "install.sh", "--prefix", prefix, "--no-unit")
    assert done.returncode == 1
    assert "differ from SHA256SUMS" in done.stdout
    assert not prefix.parent.exists()


def test_a_failed_installation_leaves_the_old_one(tmp_path: Path) -> None:
    archive = small_archive(tmp_path / "archive")
    prefix = tmp_path / "opt" / "gateway"
    old = tmp_path / "opt" / "gateway-0.0.1"
    old.mkdir(parents=True)
    (old / "mark").touch()
    prefix.symlink_to(old)
    command = ("--prefix", prefix, "--no-unit", "--python", sys.executable)
    done = run("sh", archive / "install.sh", *command)
    assert done.returncode == 1
    assert "nothing was changed" in done.stdout
    assert (prefix / "mark").exists()


def test_no_suitable_python_is_told(tmp_path: Path) -> None:
    archive = small_archive(tmp_path / "archive")
    file = archive / "PYTHONS"
    sums = archive / "SHA256SUMS"
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    file.write_text("3.99\n")
    sums.write_text(sums.read_text().replace(before, hashlib.sha256(file.read_bytes()).hexdigest()))
    done = run("sh", archive / "install.sh", "--prefix", tmp_path / "x", "--no-unit")
    assert done.returncode == 1
    assert "no Python of these versions" in done.stdout


@pytest.mark.timeout(300)
def test_an_archive_is_built_and_installed_without_an_index(tmp_path: Path) -> None:
    env = {"PYTHON": sys.executable, "PYTHONS": THIS_PYTHON, "MACHINES": platform.machine()}
    built = run("sh", OFFLINE / "build_wheelhouse.sh", tmp_path / "dist", env=env)
    if built.returncode and "No matching distribution" in built.stdout:
        pytest.skip("no package index is reachable here")
    assert built.returncode == 0, built.stdout
    (packed,) = (tmp_path / "dist").glob("*.tar.gz")
    passes("sha256sum", "-c", f"{packed.name}.sha256", cwd=packed.parent)
    passes("tar", "xzf", packed, cwd=tmp_path)
    archive = tmp_path / packed.name.removesuffix(".tar.gz")
    prefix, root = tmp_path / "opt" / "gateway", tmp_path / "root"
    command = ("--prefix", prefix, "--root", root, "--python", sys.executable)
    # An index that nobody listens at: whoever asks it fails.
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:1/simple", "PIP_RETRIES": "0"}
    for _ in range(2):
        done = run("sh", archive / "install.sh", *command, env=nowhere)
        assert done.returncode == 0, done.stdout
    version = (archive / "VERSION").read_text().strip()
    assert f"version {version}" in run(prefix / "bin" / "ascend-gateway", "--version").stdout
    etc = root / "etc" / "ascend-gateway"
    passes(prefix / "bin" / "ascend-gateway", "config", "check", etc / "routing.yaml")
    assert (etc / "client-keys").stat().st_mode & 0o007 == 0
    unit = root / "etc" / "systemd" / "system" / "ascend-gateway.service"
    assert f"ExecStart={prefix}/bin/ascend-gateway serve\n" in unit.read_text()


def test_haproxy_accepts_its_file(tmp_path: Path) -> None:
    text = (DEPLOY / "compose" / "haproxy.cfg").read_text(encoding="utf-8")
    file = tmp_path / "haproxy.cfg"
    # No names are looked up while it is checked.
    assert "init-addr none" in text
    file.write_text(text)
    passes(tool("haproxy"), "-c", "-f", file)


class Live(BaseHTTPRequestHandler):
    """Answers /livez with the status that its server was given."""

    status = 200
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Says nothing."""


def check(port: int) -> tuple[int, str]:
    env = {"ASCEND_GATEWAY_HOST": "0.0.0.0", "ASCEND_GATEWAY_PORT": str(port)}
    done = run(sys.executable, "-I", CHECK, env=env)
    return done.returncode, done.stdout


@pytest.mark.parametrize(("status", "expected"), [(200, 0), (503, 1)])
def test_the_container_check_asks_livez(status: int, expected: int) -> None:
    asked: list[str] = []
    handler = type("Handler", (Live,), {"status": status, "asked": asked})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        code, said = check(server.server_port)
        thread.join()
    assert (code, asked) == (expected, ["/livez"])
    assert (str(status) in said) == bool(expected)


def test_the_container_check_fails_where_nothing_listens() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        code, said = check(unused.getsockname()[1])
    assert code == 1
    assert "/livez" in said
