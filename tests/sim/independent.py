"""Requests that share nothing: heavy tails, and the public traces."""

import json
from math import log
from pathlib import Path
from random import Random
from typing import Final

from tests.sim.conversations import (
    MAX_BLOCKS_BITS,
    TENANT_WEIGHTS,
    TENANTS,
    block_hashes,
)
from tests.sim.requests import LONGEST_OUTPUT, Draft

TRACES: Final = Path(__file__).parent / "traces"
MOONCAKE_LONGEST_PROMPT: Final = 48_000


def _alone(
    at: float, number: int, prompt: int, output: int, block_tokens: int, rng: Random
) -> Draft:
    tenant = rng.choices(TENANTS, TENANT_WEIGHTS)[0]
    hashes = block_hashes(prompt + output, block_tokens, 1000 + number)
    return Draft(at, prompt, output, f"s{number}", tenant, hashes)


def heavy(
    count: int,
    block_tokens: int,
    rng: Random,
    prompt: tuple[float, float, int],
    output: tuple[float, float, int],
) -> list[Draft]:
    """Poisson arrivals; `prompt` is median, sigma and limit, `output` scale, shape and limit."""
    drafts: list[Draft] = []
    at = 0.0
    for number in range(count):
        at += rng.expovariate(1.0)
        median, sigma, longest = prompt
        tokens = max(4, min(longest, round(rng.lognormvariate(log(median), sigma))))
        scale, shape, most = output
        answer = max(2, min(most, LONGEST_OUTPUT, round(scale * rng.paretovariate(shape))))
        drafts.append(_alone(at, number, tokens, answer, block_tokens, rng))
    return drafts


def heavy_tail(count: int, block_tokens: int, rng: Random) -> list[Draft]:
    """Prompts lognormal(700, 1.4), outputs Pareto(90, 1.25)."""
    return heavy(count, block_tokens, rng, (700, 1.4, 32_000), (90, 1.25, 4096))


def memory_hungry(count: int, block_tokens: int, rng: Random) -> list[Draft]:
    """Prompts lognormal(1500, 1.1), outputs Pareto(150, 1.3), of which few fit into memory."""
    return heavy(count, block_tokens, rng, (1500, 1.1, 16_000), (150, 1.3, 4096))


def _window(rows: int, count: int, rng: Random) -> range:
    """Consecutive rows, another part of the trace for another seed."""
    if count > rows:
        raise ValueError(f"the trace has {rows} usable rows, {count} were asked for")
    first = rng.randint(0, rows - count)
    return range(first, first + count)


def azure(count: int, block_tokens: int, rng: Random) -> list[Draft]:
    """A part of the Azure conversation trace."""
    lines = (TRACES / "azure_conv_2023.csv").read_text(encoding="utf-8").split()
    drafts: list[Draft] = []
    for index in _window(len(lines), count, rng):
        at, prompt, output = lines[index].split(",")
        tokens, answer = max(1, int(prompt)), max(1, int(output))
        drafts.append(_alone(float(at), index, tokens, answer, block_tokens, rng))
    return drafts


def mooncake(count: int, block_tokens: int, rng: Random) -> list[Draft]:
    """A part of the Mooncake conversation trace; its blocks have 512 tokens.

    The trace names no sessions; requests with the same first two blocks are taken for one.
    """
    if block_tokens != 512:
        raise ValueError(f"the trace has blocks of 512 tokens, the engine of {block_tokens}")
    text = (TRACES / "mooncake_conversation_2000.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    rows = [row for row in rows if row[1] <= MOONCAKE_LONGEST_PROMPT]
    drafts: list[Draft] = []
    for index in _window(len(rows), count, rng):
        at_ms, prompt, output, ids = rows[index]
        full = [identity + (1 << MAX_BLOCKS_BITS) for identity in ids[: prompt // 512]]
        session = f"s{full[1]}" if len(full) > 1 else f"row{index}"
        tenant = rng.choices(TENANTS, TENANT_WEIGHTS)[0]
        drafts.append(Draft(at_ms / 1000, prompt, max(1, output), session, tenant, tuple(full)))
    return drafts
