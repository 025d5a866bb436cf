"""Noticing that a file may have changed, however it was changed."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from watchfiles import awatch

# An editor writes in several steps: it is waited for a moment without any, but not for ever.
_QUIET_MS: Final = 100
_LONGEST_WAIT_MS: Final = 1000
# Network file systems tell nobody of changes by others, and nothing is told between two watches.
_LOOK_ANYWAY_MS: Final = 1000
_LOOK_ANYWAY_S: Final = _LOOK_ANYWAY_MS / 1000
_MOST_LINKS: Final = 16


async def changes_of(file: Path) -> AsyncIterator[None]:
    """Yields whenever the file may be another than before, and now and then without a reason.

    The folders are watched, not the file: editors and `mv` put a new file in the place of the old
    one, and Kubernetes swaps a link (`..data`) beside a mounted ConfigMap. Needs no file to exist.
    """
    while True:
        try:
            # In a thread, since a network file system may let it wait.
            folders = await asyncio.to_thread(watched_folders, file)
            async for _ in awatch(
                *folders,
                recursive=False,
                watch_filter=None,
                debounce=_LONGEST_WAIT_MS,
                step=_QUIET_MS,
                rust_timeout=_LOOK_ANYWAY_MS,
                yield_on_timeout=True,
            ):
                yield
                if await asyncio.to_thread(watched_folders, file) != folders:
                    # A link on the way leads somewhere else now.
                    break
        except Exception:  # noqa: BLE001 - without a watch it is looked at all the same
            # A folder is gone just now, may not be read, or the system has no watches left.
            await asyncio.sleep(_LOOK_ANYWAY_S)
            yield


def watched_folders(file: Path) -> tuple[Path, ...]:
    """The folders on the way to the file: its own, and those of what it is a link to, resolved.

    Where a folder is missing, the nearest one above it that exists.
    """
    found: dict[Path, None] = {}
    place = file.absolute()
    for _ in range(_MOST_LINKS):
        # Resolved, so that a link to a folder that leads elsewhere is noticed.
        found[_existing(place.parent).resolve()] = None
        if not place.is_symlink():
            break
        place = place.parent / place.readlink()
    return tuple(found)


def _existing(folder: Path) -> Path:
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder
