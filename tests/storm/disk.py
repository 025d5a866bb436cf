"""The routing file on disk, changed in the ways in which operators and tools change files."""

import os
import shutil
from pathlib import Path
from typing import Final

from tests.storm.plan import Writer

_DATA: Final = "..data"


class Disk:
    """Owns the folder of one routing file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "routing.yaml"
        self._stamp = 0

    def __repr__(self) -> str:
        return f"<Disk {self.file}>"

    def write(self, data: bytes | None, writer: Writer) -> None:
        """Change the file; None deletes it."""
        if data is None:
            self.file.unlink()
        elif writer is Writer.IN_PLACE:
            self._in_place(data)
        elif writer is Writer.CONFIG_MAP:
            self._config_map(data)
        else:
            self._atomic(data)

    def _in_place(self, data: bytes) -> None:
        half = len(data) // 2
        with self.file.open("wb") as file:
            file.write(data[:half])
            file.flush()
            file.write(data[half:])

    def _atomic(self, data: bytes) -> None:
        beside = self._beside()
        beside.write_bytes(data)
        os.replace(beside, self.file)

    def _config_map(self, data: bytes) -> None:
        """As the kubelet's atomic writer: a new folder, then `..data` turns to it."""
        folder = self.file.parent
        self._stamp += 1
        new = folder / f"..stamp-{self._stamp}"
        new.mkdir()
        (new / self.file.name).write_bytes(data)
        data_link = folder / _DATA
        old = folder / data_link.readlink() if data_link.is_symlink() else None
        turned = folder / "..data_tmp"
        turned.symlink_to(new.name)
        os.replace(turned, data_link)
        if not self.file.is_symlink():
            link = self._beside()
            link.symlink_to(f"{_DATA}/{self.file.name}")
            os.replace(link, self.file)
        if old is not None:
            shutil.rmtree(old)

    def _beside(self) -> Path:
        return self.file.with_name(f".{self.file.name}.new")
