"""Rules: two backends can't have the same name, NPU or address."""

from collections.abc import Callable, Hashable, Iterator
from itertools import combinations

from gateway.config.draft import Draft, Entry
from gateway.config.problems import Code, Finding
from gateway.config.schema import BackendConfig
from gateway.words import Words

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
                Words(
                    f"{name!r} is already the name of backends[{first[name]}]",
                    f"{name!r} 已是 backends[{first[name]}] 的名称",
                ),
                Words(
                    "Give each backend its own name, also disabled ones.",
                    "每个后端都要有自己的名称，停用的也一样。",
                ),
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
                    Words(f"NPU {npu} is listed twice", f"NPU {npu} 列出了两次"),
                    Words("Remove one, or correct the number.", "请删除一个，或修正编号。"),
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
            Words(
                f"NPU {ids} of node {other.record.node_name!r} is already used by backend "
                f"{one.record.name!r}",
                f"节点 {other.record.node_name!r} 的 NPU {ids} 已被后端 {one.record.name!r} 使用",
            ),
            Words(
                "Correct npus or node, or set enabled: false on one of the two; NPUs can't be "
                "shared.",
                "请修正 npus 或 node，或对其中一个设置 enabled: false；NPU 不能共用。",
            ),
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
                Words(
                    f"{there.authority} is also the address of backend {one.record.name!r}, under "
                    "another path prefix",
                    f"{there.authority} 也是后端 {one.record.name!r} 的地址，只是路径前缀不同",
                ),
                Words(
                    "This is right only if a reverse proxy listens there.",
                    "只有该处是反向代理时才正确。",
                ),
            )
            continue
        yield Finding(
            Code.ADDRESS_TWICE,
            path,
            Words(
                f"{there.authority} is already the address of backend {one.record.name!r}",
                f"{there.authority} 已是后端 {one.record.name!r} 的地址",
            ),
            Words(
                "Correct the port, or set enabled: false on one of the two. For several names of "
                "one server keep one backend and write {backend: NAME, served_name: OTHER} in the "
                "model.",
                "请修正端口，或对其中一个设置 enabled: false。若一个服务有多个名称，请只保留一个"
                "后端，并在模型中写 {backend: 名称, served_name: 另一名称}。",
            ),
        )
