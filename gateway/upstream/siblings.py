"""The other worker processes of one gateway, asked over sockets that only they can reach."""

import asyncio
from pathlib import Path
from typing import Final, NamedTuple

import httpx

MARK: Final = "x-gateway-worker"
"""The header of what one worker asks another, which is answered for that worker alone."""

_LIMIT_S: Final = 5.0


class Told(NamedTuple):
    """What one worker answered."""

    status: int
    body: bytes
    content_type: str


class Siblings:
    """The workers beside this one: `folder` has a socket for each, named by its number."""

    def __init__(self, folder: Path | None = None, number: int = 0) -> None:
        self._folder = folder
        self._own = "" if folder is None else socket_path(folder, number).name

    def __repr__(self) -> str:
        return f"<Siblings of {self._own or 'nobody'}>"

    async def ask(self, method: str, target: str, key: str = "") -> list[Told]:
        """What each of the others answers; those that do not answer in time are left out.

        `key` is the value of the authorization header of whoever asked.
        """
        if self._folder is None:
            return []
        names = await asyncio.to_thread(_sockets, self._folder)
        asked = (self._one(method, target, key, name) for name in names if name.name != self._own)
        return [told for told in await asyncio.gather(*asked) if told is not None]

    async def _one(self, method: str, target: str, key: str, path: Path) -> Told | None:
        headers = {MARK: "1", **({"authorization": key} if key else {})}
        transport = httpx.AsyncHTTPTransport(uds=str(path))
        try:
            async with httpx.AsyncClient(transport=transport, timeout=_LIMIT_S) as client:
                answer = await client.request(method, f"http://worker{target}", headers=headers)
        except (OSError, httpx.HTTPError):
            return None
        content_type = answer.headers.get("content-type", "application/json")
        return Told(answer.status_code, answer.content, content_type)


def socket_path(folder: Path, number: int) -> Path:
    """Where the worker of this number listens for the others."""
    return folder / f"worker-{number}.sock"


def _sockets(folder: Path) -> list[Path]:
    return sorted(folder.glob("worker-*.sock"))
