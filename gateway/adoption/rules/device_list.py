"""ASCEND_RT_VISIBLE_DEVICES as CANN reads it, and as it was meant."""

import re
from typing import Final, NamedTuple

_MEANT: Final = re.compile(r"\d{1,4}")
_LONGEST: Final = 1000


class DeviceList(NamedTuple):
    """The devices that somebody wanted, and those that CANN makes of the text."""

    meant: tuple[int, ...]
    read: tuple[int, ...]


def read_devices(text: str) -> DeviceList:
    """Both readings of a list of devices.

    CANN takes ascending numbers between commas and stops at the first that is none: at a blank, a
    quote, any other character, or a number that does not ascend (CANN 8.0 to 9.1, reference of
    environment variables).
    """
    text = text[:_LONGEST]
    meant = tuple(int(number) for number in _MEANT.findall(text))
    read: list[int] = []
    for part in text.split(","):
        whole = _MEANT.match(part)
        if whole is None or (read and int(whole.group()) <= read[-1]):
            break
        read.append(int(whole.group()))
        if whole.end() != len(part):
            break
    return DeviceList(meant, tuple(read))
