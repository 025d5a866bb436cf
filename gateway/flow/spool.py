"""A body that may be too large for memory: small ones stay there, large ones go to a file."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import BinaryIO, Final

_IN_MEMORY_BYTES: Final = 1024 * 1024
_PIECE_BYTES: Final = 256 * 1024


class Spool:
    """Collects bytes and gives them out again, as often as asked; files are read by threads.

    The file has no name and vanishes with `close`.
    """

    __slots__ = ("_file", "_held", "_held_bytes", "_lock", "size_bytes")

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._file: BinaryIO | None = None
        self._lock = asyncio.Lock()
        self.size_bytes = 0

    def __repr__(self) -> str:
        where = "memory" if self._file is None else "file"
        return f"<Spool {self.size_bytes} bytes in {where}>"

    async def add(self, piece: bytes) -> None:
        """Takes the next piece in; raises OSError if the disk is full."""
        self._held.append(piece)
        self._held_bytes += len(piece)
        self.size_bytes += len(piece)
        if self._held_bytes > _IN_MEMORY_BYTES:
            held, self._held, self._held_bytes = self._held, [], 0
            await asyncio.to_thread(self._write, held)

    async def pieces(self) -> AsyncIterator[bytes]:
        """All bytes in order."""
        offset = 0
        stored_bytes = self.size_bytes - self._held_bytes
        while self._file is not None and offset < stored_bytes:
            piece = await self._read(offset)
            offset += len(piece)
            yield piece
        for piece in self._held:
            yield piece

    def close(self) -> None:
        """Frees memory and file."""
        self._held = []
        if self._file is not None:
            self._file.close()

    async def _read(self, offset: int) -> bytes:
        async with self._lock:
            return await asyncio.to_thread(self._read_at, offset)

    def _read_at(self, offset: int) -> bytes:
        if self._file is None:
            raise RuntimeError("the spool has no file")
        self._file.seek(offset)
        return self._file.read(_PIECE_BYTES)

    def _write(self, pieces: list[bytes]) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="ascend-gateway-")  # noqa: SIM115
        self._file.seek(0, 2)
        self._file.writelines(pieces)
