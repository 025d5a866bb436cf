"""Files that are written whole or not at all, and read within a bound. Blocking."""

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700

_BEGINS: Final = ".ascend-gateway-"
_ENDS: Final = ".tmp"
_LOCK_NAME: Final = ".lock"
_LOCK_WAIT_S: Final = 5.0
_LOCK_STEP_S: Final = 0.01
_NEW_FILE_MODE: Final = 0o644
_ABANDONED_S: Final = 3600.0


def write_whole(path: Path, data: bytes, mode: int = FILE_MODE) -> None:
    """Puts `data` in the place of the file, at once; raises OSError and leaves the old one then.

    It goes to a new file in the same folder, to the disk, and only then gets the name. `mode` is
    that of the file afterwards.
    """
    handle, name = tempfile.mkstemp(prefix=_BEGINS, suffix=_ENDS, dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(path.parent)


def replace_file(file: Path | None, data: bytes) -> str:
    """Puts `data` in the place of the file in one step; says what went wrong, "" if nothing did.

    A link stays a link; what it leads to is replaced, with the rights and the owner it has.
    """
    if file is None:
        return "there is none"
    try:
        target = file.resolve()
        old = target.stat() if target.exists() else None
        write_whole(target, data, _NEW_FILE_MODE if old is None else old.st_mode & 0o777)
        if old is not None:
            with suppress(OSError):
                # Only root can give a file to its owner again; anybody else keeps it.
                os.chown(target, old.st_uid, old.st_gid)
    except (OSError, RuntimeError) as error:
        return (error.strerror if isinstance(error, OSError) else None) or str(error)
    return ""


def read_within(path: Path, max_bytes: int, *, follow: bool = False) -> bytes:
    """The bytes of a plain file; raises OSError for anything else, or ValueError above the bound.

    Links are followed only if `follow`. A pipe in the place of the file can't hold the reader up.
    """
    links = 0 if follow else os.O_NOFOLLOW
    handle = os.open(path, os.O_RDONLY | links | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is not a plain file")
        # It closes nothing: of a folder it would leave the handle open.
        with open(handle, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
    finally:
        os.close(handle)
    if len(data) > max_bytes:
        raise ValueError(f"{path} is larger than {max_bytes} bytes")
    return data


def make_folder(folder: Path) -> None:
    """Makes the folder, for us alone, where it is missing; raises OSError."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """One writer at a time in a folder, other processes included; raises OSError after 5 s."""
    handle = os.open(folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        until_s = time.monotonic() + _LOCK_WAIT_S
        while not _is_locked(handle):
            if time.monotonic() > until_s:
                raise TimeoutError(f"another process has held {folder / _LOCK_NAME} for too long")
            time.sleep(_LOCK_STEP_S)
        yield
    finally:
        os.close(handle)


def clear_abandoned(folder: Path, now_s: float) -> None:
    """Removes what a writer that died left in the folder more than an hour before `now_s`."""
    with suppress(OSError):
        for path in folder.glob(f"{_BEGINS}*{_ENDS}"):
            with suppress(OSError):
                if path.lstat().st_mtime < now_s - _ABANDONED_S:
                    path.unlink()


def _is_locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Makes the new name last; some file systems can't do that, which takes nothing away."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
