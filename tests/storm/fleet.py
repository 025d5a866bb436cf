"""The emulated servers of a reload storm, and the routing files over them. Pure but for ports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

Tree = dict[str, Any]

HOST: Final = "127.0.0.1"
STEADY: Final = "steady"
RENAMED: Final = "renamed"
ROAMING: Final = "roaming"
NEW_NAME: Final = "renamed-v2"
"""What the second model is called at times; its old name is an alias then, and the other way."""
GUESTS: Final = ("c2", "c3")
"""Servers that come and go."""
RECORD_LIMIT: Final = 300
PROBE_INTERVAL_S: Final = 0.5
_ROAMERS: Final = frozenset({"c1", "c1-moved", *GUESTS})
_MAX_MODEL_LEN: Final = 40960
_ROOT: Final = "/models/Qwen3.5-9B"
_TEXT_SEED: Final = 0
"""Equal everywhere, so that every server says the same after the same prompt."""


@dataclass(frozen=True, slots=True)
class Server:
    """One emulated server. `c1` and `c1-moved` are two addresses of what operators call c1."""

    name: str
    served_name: str
    host: str
    """Name of the process that it runs in."""


SERVERS: Final = (
    Server("a1", "qwen-a", "left"),
    Server("a2", "/models/qwen-a", "right"),
    Server("b1", "qwen-b", "left"),
    Server("b2", "/models/qwen-b", "right"),
    Server("c1", "qwen-c", "left"),
    Server("c1-moved", "qwen-c", "right"),
    Server("c2", "/models/qwen-c", "left"),
    Server("c3", "Qwen/Qwen-C", "right"),
)
HOSTS: Final = tuple(dict.fromkeys(server.host for server in SERVERS))
Ports = Mapping[str, int]
"""Port by name of the server."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything that reloads change, as one value."""

    is_backend_renamed: bool = False
    is_model_renamed: bool = False
    is_moved: bool = False
    guests: frozenset[str] = frozenset(GUESTS)
    disabled: frozenset[str] = frozenset()
    """Guests that stand in the file with `enabled: false`."""
    tuning: int = 0
    """Draws weights, limits and timeouts."""
    note: str = field(default="", compare=False)
    """A comment at the top; it changes nothing."""


def serving(shape: Shape) -> frozenset[str]:
    """The servers that requests may go to."""
    first = "c1-moved" if shape.is_moved else "c1"
    return frozenset({"a1", "a2", "b1", "b2", first}) | (shape.guests - shape.disabled)


def routing_text(shape: Shape, ports: Ports) -> str:
    """The routing file."""
    comment = f"# {shape.note}\n" if shape.note else ""
    return comment + yaml.safe_dump(_tree(shape, ports), allow_unicode=True, sort_keys=False)


def fleet_tree(host: str, ports: Ports, time_scale: float) -> Tree:
    """The file for `ascend-gateway emulate` of one process."""
    return {
        "backends": [
            {
                "name": server.name,
                "host": HOST,
                "port": ports[server.name],
                "preset": "310p-9b-graph",
                "time_scale": time_scale,
                "served_names": [server.served_name],
                "root": _ROOT,
                "max_model_len": _MAX_MODEL_LEN,
                "text_seed": _TEXT_SEED,
                "record_limit": RECORD_LIMIT,
            }
            for server in SERVERS
            if server.host == host
        ]
    }


def _tree(shape: Shape, ports: Ports) -> Tree:
    second = "a2-renamed" if shape.is_backend_renamed else "a2"
    moved = "c1-moved" if shape.is_moved else "c1"
    entries = [("a1", "a1"), (second, "a2"), ("b1", "b1"), ("b2", "b2"), ("c1", moved)]
    entries += [(name, name) for name in GUESTS if name in shape.guests]
    names = (NEW_NAME, RENAMED) if shape.is_model_renamed else (RENAMED, NEW_NAME)
    guests = [name for name in GUESTS if name in shape.guests]
    timeouts = {"first_byte_s": 200 + shape.tuning % 7, "between_events_s": 20 + shape.tuning % 11}
    return {
        "version": 1,
        "health": {"longest_step_s": 5, "ramp_s": 2},
        "queue": {"max_wait_s": 100 + shape.tuning % 5},
        "backends": [_entry(name, server, shape, ports) for name, server in entries],
        "models": [
            {"name": STEADY, "backends": ["a1", second], "timeouts": timeouts},
            {
                "name": names[0],
                "aliases": [names[1]],
                "backends": ["b1", "b2"],
                "limits": {"max_output_tokens": 4096 + shape.tuning % 13},
            },
            {"name": ROAMING, "backends": ["c1", *guests], "timeouts": timeouts},
        ],
    }


def _entry(name: str, server: str, shape: Shape, ports: Ports) -> Tree:
    served = {one.name: one.served_name for one in SERVERS}
    turn = (shape.tuning + len(name)) % 3
    # Where latencies are compared, a weight must not make requests wait for the heavier one.
    weight = 1 + turn if server in _ROAMERS else 1 + turn / 100
    entry: Tree = {
        "name": name,
        "url": f"http://{HOST}:{ports[server]}",
        "served_name": served[server],
        "root": _ROOT,
        "max_num_seqs": 8,
        "max_model_len": _MAX_MODEL_LEN,
        "capture_sizes": [1, 4],
        "weight": weight,
    }
    return entry | ({"enabled": False} if server in shape.disabled else {})


def ports_of(free: Sequence[int]) -> dict[str, int]:
    """A port for each server."""
    return dict(zip((server.name for server in SERVERS), free, strict=True))
