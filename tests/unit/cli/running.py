"""The routes of administration on a real port, with a control that answers as it is told to."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any

import click
import uvicorn
from click.testing import CliRunner, Result

from gateway.api.site import build_site
from tests.unit.api.test_admin_config import FakeControl, site

CLEAN: dict[str, str | None] = {
    "LC_ALL": "",
    "LC_MESSAGES": "",
    "LANG": "",
    **{
        f"ASCEND_GATEWAY_{name}": None
        for name in ("HOST", "PORT", "ADMIN_KEYS", "ADMIN_KEYS_FILE", "TLS_CERT_FILE")
    },
}


@contextmanager
def running(control: FakeControl, key: str | None = None, **tls: Any) -> Iterator[int]:
    """The port of a site on loopback."""
    app = build_site(site(control, (("ops", key),) if key else ()))
    options = {"lifespan": "off", "ws": "none", "log_config": None, "access_log": False}
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, **options, **tls))
    listener = server.config.bind_socket()
    # Who connects before the server has started waits instead of being refused.
    listener.listen()
    thread = Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


def run(
    command: click.Command,
    words: Sequence[str],
    port: int | None = None,
    *,
    stdin: str | None = None,
    **environment: str | None,
) -> Result:
    """The command in a clean environment, at a port of this machine if one is given."""
    where = [] if port is None else ["--url", f"http://127.0.0.1:{port}"]
    env = {**CLEAN, **environment}
    return CliRunner().invoke(command, [*words, *where], env=env, input=stdin)
