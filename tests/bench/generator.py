"""The load generator, a process of its own: replays a file of arrivals in open loop.

python -m tests.bench.generator ARRIVALS PORT TIME_SCALE RESULTS
"""

import asyncio
import gc
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from tests.bench.arrivals import Arrival, read
from tests.bench.client import Client, http_request

HOST: Final = "127.0.0.1"
LEAD_S: Final = 0.3
"""Before the first arrival, so that all tasks exist by then (seconds of this machine)."""
REQUEST_LIMIT_S: Final = 3600.0
"""Longest wait for one answer, in engine seconds."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one request; engine seconds since it was due to be sent."""

    id: str
    status: int
    error: str | None
    """None for a whole answer of the right length."""
    ttft_s: float
    decode_s: float
    """From the first token to the last."""
    e2e_s: float
    """Until the answer had ended."""
    late_s: float
    """How late the client was to send it."""


@dataclass(frozen=True, slots=True)
class Replay:
    """All results of one run."""

    results: list[Result]
    generator_cpu_s: float
    """CPU seconds of the generator itself."""


async def _one(arrival: Arrival, port: int, scale: float, began: float) -> Result:
    now = asyncio.get_running_loop().time
    request = http_request(port, msgspec.json.encode(arrival.body))
    due = began + arrival.at_s / scale
    await asyncio.sleep(due - now())
    late = now() - due
    client = Client(request, now)
    try:
        async with asyncio.timeout(REQUEST_LIMIT_S / scale):
            await asyncio.get_running_loop().create_connection(lambda: client, HOST, port)
            await client.ended.wait()
    except (OSError, TimeoutError) as error:
        client.answer.error = f"{type(error).__name__}: {error}"
    answer, end = client.answer, client.end_at or now()
    first = end if answer.first_at is None else answer.first_at
    last = end if answer.last_at is None else answer.last_at
    return Result(
        id=arrival.id,
        status=client.status,
        error=answer.problem(arrival.output_tokens),
        ttft_s=(first - due) * scale,
        decode_s=(last - first) * scale,
        e2e_s=(end - due) * scale,
        late_s=late * scale,
    )


async def replay(arrivals: list[Arrival], port: int, scale: float) -> Replay:
    """Send every request when it is due, whatever became of those before it."""
    before_s = time.process_time()
    began = asyncio.get_running_loop().time() + LEAD_S
    # A collection in the middle would make answers look late.
    gc.freeze()
    gc.disable()
    results = await asyncio.gather(*(_one(arrival, port, scale, began) for arrival in arrivals))
    return Replay(list(results), time.process_time() - before_s)


def main(arguments: list[str]) -> int:
    """The command."""
    file, port, scale, out = arguments
    found = uvloop.run(replay(read(Path(file)), int(port), float(scale)))
    Path(out).write_bytes(msgspec.json.encode(asdict(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
