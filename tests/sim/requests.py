"""Requests of a simulation: what is true of them, and the part that a gateway can know."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Final

LONGEST_OUTPUT: Final = 4096
PROMPT_ESTIMATE_ERROR: Final = 0.12
"""Relative standard deviation of a gateway's guess of a prompt's tokens."""


@dataclass(frozen=True, slots=True)
class KnownRequest:
    """What the gateway knows of a request before it is answered."""

    id: str
    arrival_s: float
    prompt_tokens: int
    """Estimated."""
    max_tokens: int
    session: str
    tenant: str
    prefix: tuple[int, ...]
    """One hash for each full block of the prompt; equal hashes mean equal text up to there."""
    block_tokens: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What an engine tells when it has finished a request."""

    prompt_tokens: int
    output_tokens: int
    cached_tokens: int | None = None
    """None when the engine does not tell, which is the default of vLLM."""


@dataclass(frozen=True, slots=True)
class SimRequest:
    """The whole truth about a request."""

    id: str
    arrival_s: float
    prompt_tokens: int
    output_tokens: int
    hashes: tuple[int, ...]
    """One for each full block of prompt and output, as the engine's prefix cache sees them."""
    known: KnownRequest

    def at(self, arrival_s: float) -> "SimRequest":
        """The same request at another time."""
        return replace(self, arrival_s=arrival_s, known=replace(self.known, arrival_s=arrival_s))


@dataclass(slots=True)
class Draft:
    """A request whose time has no scale yet."""

    at: float
    prompt_tokens: int
    output_tokens: int
    session: str
    tenant: str
    hashes: tuple[int, ...]


def max_tokens_of(output_tokens: int, rng: Random) -> int:
    """Half of the clients set a limit of their own, the others leave it at 4096."""
    if rng.random() < 0.5:
        return LONGEST_OUTPUT
    return 1 << (max(1, output_tokens) - 1).bit_length()


def estimate(prompt_tokens: int, rng: Random) -> int:
    """A guess of a prompt's tokens from its characters."""
    error = max(-0.4, min(0.4, rng.gauss(0.0, PROMPT_ESTIMATE_ERROR)))
    return max(1, round(prompt_tokens * (1.0 + error)))


def complete(drafts: Iterable[Draft], block_tokens: int, rng: Random) -> list[SimRequest]:
    """Requests in order of their time, with what the gateway knows of each."""
    requests: list[SimRequest] = []
    for index, draft in enumerate(sorted(drafts, key=lambda draft: draft.at)):
        name = f"r{index}"
        known = KnownRequest(
            id=name,
            arrival_s=draft.at,
            prompt_tokens=estimate(draft.prompt_tokens, rng),
            max_tokens=max_tokens_of(draft.output_tokens, rng),
            session=draft.session,
            tenant=draft.tenant,
            prefix=draft.hashes[: draft.prompt_tokens // block_tokens],
            block_tokens=block_tokens,
        )
        requests.append(
            SimRequest(
                id=name,
                arrival_s=draft.at,
                prompt_tokens=draft.prompt_tokens,
                output_tokens=draft.output_tokens,
                hashes=draft.hashes,
                known=known,
            )
        )
    return requests
