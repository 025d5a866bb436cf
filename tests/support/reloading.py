"""A gateway whose routing file is changed while it runs."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.support.gateway import GatewayClient, running_gateway
from tests.support.routing import Tree
from tests.support.waiting import eventually


class Reloaded:
    """A running gateway and its routing file."""

    def __init__(self, gateway: GatewayClient, file: Path) -> None:
        self.gateway = gateway
        self.file = file

    def write(self, config: str | Tree) -> None:
        """Puts another file in the place of the old one, as `mv` and careful editors do."""
        beside = self.file.with_name(f".{self.file.name}.new")
        beside.write_text(as_text(config), encoding="utf-8")
        os.replace(beside, self.file)

    async def config(self) -> Any:
        """What /health says of the routing file."""
        return (await self.gateway.health())["config"]

    async def until_version_is_not(self, version: str) -> str:
        """Waits until another file than this is in force; returns its version."""

        async def other() -> str | None:
            now = await self.config()
            return None if now["version"] == version else now["version"]

        return await eventually(other) or ""

    async def until_refused(self, is_refused: bool = True) -> Any:
        """Waits until the file on disk counts as refused, or as mended."""

        async def seen() -> Any:
            now = await self.config()
            return now if now["is_refused"] is is_refused else None

        return await eventually(seen)

    async def change(self, config: str | Tree) -> str:
        """Writes a file and waits until it is in force; returns its version."""
        before = (await self.config())["version"]
        self.write(config)
        return await self.until_version_is_not(before)

    async def reload(self) -> tuple[int, Any]:
        """Asks for a reload as an administrator; status and answer."""
        answer = await self.gateway.post("/admin/reload", b"")
        return answer.status, answer.json()


def as_text(config: str | Tree) -> str:
    return config if isinstance(config, str) else yaml.safe_dump(config, allow_unicode=True)


@asynccontextmanager
async def reloadable(
    folder: Path, config: str | Tree, *, wait: bool = True, **settings: Any
) -> AsyncIterator[Reloaded]:
    """A gateway over a file in `folder`, which it watches; its state is kept there as well."""
    file = folder / "routing.yaml"
    file.write_text(as_text(config), encoding="utf-8")
    values = {"config_file": file, "state_dir": folder / "state", **settings}
    async with running_gateway(config, wait=wait, **values) as gateway:
        yield Reloaded(gateway, file)
