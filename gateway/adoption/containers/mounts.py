"""What of the host a container sees: `-v` and `--mount`."""

import csv
from collections.abc import Iterable

from gateway.adoption.sources import Mount


def read_volume(text: str) -> Mount | None:
    """The mount of a `-v source:target[:mode]`; None for a volume that has no name."""
    source, colon, rest = text.partition(":")
    target = rest.partition(":")[0]
    return Mount(source, target) if colon and source and target else None


def read_mount(text: str) -> Mount | None:
    """The mount of a `--mount type=bind,source=A,target=B`; None for what has no source.

    `src`, and `dst` or `destination`, are other names of source and target; the fields may be
    quoted as in CSV.
    """
    try:
        items = [item for row in csv.reader([text.replace("\n", " ")]) for item in row]
    except csv.Error:
        return None
    pairs = [item.strip().partition("=") for item in items]
    fields = {key.lower(): value for key, _, value in pairs}
    source = fields.get("source") or fields.get("src") or ""
    target = fields.get("target") or fields.get("destination") or fields.get("dst") or ""
    return Mount(source, target) if source and target else None


def mounts_of(volumes: Iterable[str], mounts: Iterable[str]) -> tuple[Mount, ...]:
    """All mounts of `-v` and `--mount` values that have a source and a target."""
    found = [read_volume(text) for text in volumes] + [read_mount(text) for text in mounts]
    return tuple(dict.fromkeys(mount for mount in found if mount is not None))
