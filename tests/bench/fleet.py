"""The emulated fleet of a bench: two graph backends, one eager, and the routing file over them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.bench.arrivals import MODEL
from tests.bench.process import Child
from tests.bench.prompts import TEXT_SEED
from tests.chaos.fleet import free_port
from tests.support.children import COMMAND

HOST: Final = "127.0.0.1"
MAX_MODEL_LEN: Final = 53248
MAX_NUM_SEQS: Final = 8
CAPTURE_SIZES: Final = [1, 4]
PRESETS: Final = {
    "graph-a": "310p-9b-graph",
    "graph-b": "310p-9b-graph",
    "eager": "310p-9b-eager",
}

# Defaults of the gateway that are times of engines or of people, in engine seconds.
_LONGEST_STEP_S: Final = 10.0
_CANARY_IDLE_S: Final = 60.0
_BREAKER_OPEN_S: Final = 5.0
_RAMP_S: Final = 10.0
_QUEUE_WAIT_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Member:
    """One backend and where it listens."""

    name: str
    preset: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def is_graph(self) -> bool:
        return self.preset.endswith("graph")


def distinct_ports(count: int) -> list[int]:
    """Free ports, no two of them equal."""
    ports: set[int] = set()
    while len(ports) < count:
        ports.add(free_port())
    return sorted(ports)


def members(ports: Sequence[int]) -> tuple[Member, ...]:
    """The backends on these ports."""
    return tuple(
        Member(name, preset, port)
        for (name, preset), port in zip(PRESETS.items(), ports, strict=True)
    )


def start(fleet: Sequence[Member], scale: float, folder: Path) -> list[Child]:
    """Start a process for each backend, with cold caches; nobody has waited for them yet."""
    file = folder / "fleet.yaml"
    file.write_text(yaml.safe_dump({"backends": [_emulated(m, scale) for m in fleet]}))
    return [
        Child(member.name, [*COMMAND, "emulate", str(file), "--only", member.name], folder)
        for member in fleet
    ]


def _emulated(member: Member, scale: float) -> dict[str, Any]:
    return {
        "name": member.name,
        "host": HOST,
        "port": member.port,
        "preset": member.preset,
        "capture_sizes": CAPTURE_SIZES if member.is_graph else [],
        "max_num_seqs": MAX_NUM_SEQS,
        "time_scale": scale,
        "served_names": [MODEL],
        "max_model_len": MAX_MODEL_LEN,
        "text_seed": TEXT_SEED,
        "length_marks": True,
        "record_limit": 10,
    }


def routing_file(fleet: Sequence[Member], scale: float) -> dict[str, Any]:
    """The gateway's routing file: what a site would write, with times at the fleet's scale."""
    return {
        "version": 1,
        "health": {
            "longest_step_s": _LONGEST_STEP_S / scale,
            "canary_idle_s": _CANARY_IDLE_S / scale,
            "breaker_open_s": _BREAKER_OPEN_S / scale,
            "ramp_s": _RAMP_S / scale,
        },
        "queue": {"max_wait_s": _QUEUE_WAIT_S / scale},
        "backends": [_routed(member) for member in fleet],
        "models": [
            {
                "name": MODEL,
                "backends": [member.name for member in fleet],
            }
        ],
    }


def _routed(member: Member) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": member.name,
        "url": member.url,
        "served_name": MODEL,
        "chip": "310P",
        "tensor_parallel": 2,
        "max_num_seqs": MAX_NUM_SEQS,
        "max_model_len": MAX_MODEL_LEN,
    }
    return entry | ({"capture_sizes": CAPTURE_SIZES} if member.is_graph else {"tier": "eager"})
