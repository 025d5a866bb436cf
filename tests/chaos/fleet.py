"""The fleet of a chaos run: its backends, their files, and the routing file over them."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

Tree = dict[str, Any]

HOST: Final = "127.0.0.1"
SMALL: Final = "qwen3.5-9b"
LARGE: Final = "qwen3.5-27b"
REFERENCE: Final = "reference"
TEXT_SEED: Final = 0
"""Equal everywhere, so that every backend says the same after the same prompt."""
MAX_MODEL_LEN: Final = 40960
LARGE_ROOT: Final = "/models/qwen3.5-27B-w8a8"
SMALL_ROOT: Final = "/models/Qwen3.5-9B"

_PORT_RANGE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")


@dataclass(frozen=True, slots=True)
class Member:
    """One backend. `served_name` differs between twins, as it does between real servers."""

    name: str
    model: str
    served_name: str
    preset: str
    time_scale: float
    node: str
    root: str
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def is_graph(self) -> bool:
        return self.preset.endswith("graph")


_MEMBERS: Final = (
    Member("9b-a", SMALL, "qwen3.5-9b", "310p-9b-graph", 4.0, "node-a", SMALL_ROOT),
    Member("9b-b", SMALL, "Qwen/Qwen3.5-9B", "310p-9b-graph", 4.0, "node-b", SMALL_ROOT),
    Member("9b-eager", SMALL, "qwen9b-eager", "310p-9b-eager", 6.0, "node-c", SMALL_ROOT),
    Member("27b-a", LARGE, "qwen3.5-27b", "310p-27b-graph", 12.0, "node-a", LARGE_ROOT),
    Member("27b-b", LARGE, LARGE_ROOT, "310p-27b-graph", 12.0, "node-b", LARGE_ROOT),
)

HEALTH: Final[Tree] = {
    "longest_step_s": 2,
    "canary_idle_s": 5,
    "ramp_s": 2,
    "breaker_open_s": 1,
}
RESUME: Final = {SMALL: "text", LARGE: "exact"}


def fleet_members() -> tuple[Member, ...]:
    """The backends, each with a port that stays its own whenever its process is started again."""
    ports = _free_ports()
    return tuple(
        Member(m.name, m.model, m.served_name, m.preset, m.time_scale, m.node, m.root, next(ports))
        for m in _MEMBERS
    )


def reference_member() -> Member:
    """The undisturbed backend that says beforehand what every answer must be."""
    port = next(_free_ports())
    return Member(REFERENCE, SMALL, REFERENCE, "a2-9b", 400.0, "node-r", SMALL_ROOT, port)


def fleet_file(member: Member, *, is_eager: bool = False) -> Tree:
    """The file for `ascend-gateway emulate` of one backend; `is_eager` takes its graphs away."""
    entry: Tree = {
        "name": member.name,
        "host": HOST,
        "port": member.port,
        "preset": member.preset,
        "time_scale": member.time_scale,
        "served_names": [member.served_name],
        "root": member.root,
        "max_model_len": MAX_MODEL_LEN,
        "text_seed": TEXT_SEED,
    }
    if is_eager:
        entry["capture_sizes"] = []
    return {"backends": [entry]}


def routing_file(members: tuple[Member, ...]) -> Tree:
    """The gateway's routing file over `members`."""
    models = dict.fromkeys(member.model for member in members)
    return {
        "version": 1,
        "health": HEALTH,
        "backends": [_routed(member) for member in members],
        "models": [
            {
                "name": model,
                "backends": [m.name for m in members if m.model == model],
                "resume": RESUME[model],
                # Emulated tokens come many times a second: a stall need not be waited for long.
                "timeouts": {"between_events_s": 5},
            }
            for model in models
        ],
    }


def _routed(member: Member) -> Tree:
    entry: Tree = {
        "name": member.name,
        "url": member.url,
        "served_name": member.served_name,
        "root": member.root,
        "node": member.node,
        "chip": "310P",
        "tensor_parallel": 2,
        "max_num_seqs": 8,
        "max_model_len": MAX_MODEL_LEN,
        # An emulated card is several times faster than the chip that the gateway assumes.
        "longest_step_s": HEALTH["longest_step_s"],
    }
    return entry | ({"capture_sizes": [1, 4]} if member.is_graph else {"tier": "eager"})


def free_port() -> int:
    """A port that is free now and that no outgoing connection takes by itself."""
    return next(_free_ports())


def free_ports(count: int) -> list[int]:
    """So many different ports of that kind."""
    return list(islice(_free_ports(), count))


def _free_ports() -> Iterator[int]:
    """Ports below the ephemeral range: while a backend is down, no connection may take its port."""
    try:
        first_ephemeral = int(_PORT_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        first_ephemeral = 32768
    with socket.socket() as probe:
        # An unused port of the system's choice spreads runs that go on side by side.
        probe.bind((HOST, 0))
        start = probe.getsockname()[1]
    span = max(1, first_ephemeral - 10000)
    for offset in range(span):
        port = 10000 + (start + offset) % span
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
        yield port
    raise OSError("no free port was found")
