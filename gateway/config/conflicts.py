"""Rules: two backends can't have the same name, NPU or address."""

from collections.abc import Callable, Hashable, Iterator
from itertools import combinations

from gateway.config.draft import Draft, Entry
from gateway.config.problems import Code, Finding
from gateway.config.schema import BackendConfig

Pair = tuple[Entry[BackendConfig], Entry[BackendConfig]]


def backend_name_twice(draft: Draft) -> Iterator[Finding]:
    """Names are unique, also among disabled backends, since models refer to them."""
    first: dict[str, int] = {}
    for index, name in enumerate(draft.backend_names):
        if not name:
            continue
        if name in first:
            yield Finding(
                Code.BACKEND_NAME_TWICE,
                ("backends", index, "name"),
                f"{name!r} is already the name of backends[{first[name]}]",
                "Give each backend its own name, also disabled ones.",
            )
        first.setdefault(name, index)


def npu_twice(draft: Draft) -> Iterator[Finding]:
    """A backend lists each of its NPUs once."""
    for entry in draft.backends:
        seen: set[int] = set()
        for position, npu in enumerate(entry.record.npus):
            if npu in seen:
                yield Finding(
                    Code.NPU_TWICE,
                    ("backends", entry.index, "npus", position),
                    f"NPU {npu} is listed twice",
                    "Remove one, or correct the number.",
                )
            seen.add(npu)


def npu_shared(draft: Draft) -> Iterator[Finding]:
    """Two enabled backends of one node use different NPUs."""
    for one, other in _pairs(draft, lambda backend: backend.node_name.casefold()):
        shared = sorted(set(one.record.npus) & set(other.record.npus))
        if not shared:
            continue
        ids = ", ".join(map(str, shared))
        yield Finding(
            Code.NPU_SHARED,
            ("backends", other.index, "npus"),
            f"NPU {ids} of node {other.record.node_name!r} is already used by backend "
            f"{one.record.name!r}",
            "Correct npus or node, or set enabled: false on one of the two; NPUs can't be shared.",
        )


def _pairs(draft: Draft, place: Callable[[BackendConfig], Hashable]) -> Iterator[Pair]:
    """The enabled backends that share a place, two by two."""
    neighbours: dict[Hashable, list[Entry[BackendConfig]]] = {}
    for entry in draft.enabled_backends:
        neighbours.setdefault(place(entry.record), []).append(entry)
    for group in neighbours.values():
        yield from combinations(group, 2)


def address_twice(draft: Draft) -> Iterator[Finding]:
    """Two enabled backends listen on different addresses."""
    for one, other in _pairs(draft, lambda backend: backend.address.listener):
        here, there = one.record.address, other.record.address
        path = ("backends", other.index, "url")
        if here.prefix != there.prefix:
            yield Finding(
                Code.ADDRESS_SHARED,
                path,
                f"{there.authority} is also the address of backend {one.record.name!r}, under "
                "another path prefix",
                "This is right only if a reverse proxy listens there.",
            )
            continue
        yield Finding(
            Code.ADDRESS_TWICE,
            path,
            f"{there.authority} is already the address of backend {one.record.name!r}",
            "Correct the port, or set enabled: false on one of the two. For several names of "
            "one server keep one backend and write {backend: NAME, served_name: OTHER} in the "
            "model.",
        )
