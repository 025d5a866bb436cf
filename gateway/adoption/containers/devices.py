"""Which NPUs a container gets: device files, device names, and lists of the container runtime."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

MAX_NPUS: Final = 256
"""No machine has more; a longer range in a list is not read."""

_FILE: Final = re.compile(r"^/dev/davinci(\d{1,4})$")
_FILES: Final = re.compile(r"^/dev/davinci(?:[^_\d].*|\d+[^\d].*)?$")
_UNREADABLE: Final = (-1,)
_BRACES: Final = re.compile(r"^(/dev/davinci)\{(\d{1,3}(?:,\d{1,3})*|\d{1,3}\.\.\d{1,3})\}$")
_NAMED: Final = re.compile(r"^huawei\.com/[\w-]+=(.+)$", re.IGNORECASE)
_ITEM: Final = re.compile(r"^(?:[A-Za-z][\w]*-)?(\d{1,3})(?:-(\d{1,3}))?$")


@dataclass(frozen=True, slots=True)
class Npus:
    """Numbers of NPUs, None for all; and what could not be read."""

    numbers: tuple[int, ...] | None = ()
    unread: tuple[str, ...] = ()


def npus_of(
    devices: Iterable[str],
    environment: Mapping[str, str],
    *,
    runtime: str = "",
    is_privileged: bool = False,
) -> Npus:
    """The NPUs of a container with these devices, in the order in which they are given.

    Ascend's container runtime also mounts what ASCEND_VISIBLE_DEVICES lists. It may be the default
    of the host, so the list counts too where no device and no other runtime is named.
    (mind-cluster, ascend-docker-runtime user guide.)
    """
    found: list[int] = []
    unread: list[str] = []
    has_all = is_privileged
    for device in devices:
        numbers = _of_device(device.strip())
        if numbers is None:
            has_all = True
        elif numbers == _UNREADABLE:
            unread.append(device)
        else:
            found += numbers
    if runtime == "ascend" or (not runtime and not found):
        listed = _listed(environment)
        found += listed.numbers or ()
        unread += listed.unread
        has_all = has_all or listed.numbers is None
    return Npus(None if has_all else tuple(dict.fromkeys(found)), tuple(unread))


def _listed(environment: Mapping[str, str]) -> Npus:
    """What ASCEND_VISIBLE_DEVICES lists; the numbers of virtual NPUs are others than of NPUs."""
    text = environment.get("ASCEND_VISIBLE_DEVICES", "")
    if text and "VIRTUAL" in environment.get("ASCEND_RUNTIME_OPTIONS", ""):
        return Npus((), (text,))
    return _of_list(text)


def _of_device(text: str) -> tuple[int, ...] | None:
    """The numbers of one --device: a file of the host, a folder of them, or a CDI name."""
    named = _NAMED.match(text)
    if named:
        if named[1] == "all":
            return None
        return (int(named[1]),) if re.fullmatch(r"[0-9]{1,3}", named[1]) else _UNREADABLE
    source = text.split(":", 1)[0]
    if source.rstrip("/") == "/dev":
        return None
    if one := _FILE.match(source):
        return (int(one[1]),)
    if several := _BRACES.match(source):
        return _of_list(several[2].replace("..", "-")).numbers or ()
    return _UNREADABLE if _FILES.match(source) else ()


def _of_list(text: str) -> Npus:
    """`0,1`, `0-3,5`, `Ascend910-0,Ascend910-1`, `all`, `void`."""
    text = text.strip()
    if text.lower() in ("", "void", "none"):
        return Npus()
    if text.lower() == "all":
        return Npus(None)
    numbers: list[int] = []
    for item in text.split(","):
        match = _ITEM.match(item.strip())
        last = int(match[2] or match[1]) if match else -1
        if match is None or not int(match[1]) <= last < MAX_NPUS:
            return Npus((), (text,))
        numbers += range(int(match[1]), last + 1)
    return Npus(tuple(dict.fromkeys(numbers)))
