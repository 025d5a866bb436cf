"""Requests that share text: chats of several turns, and agents with long common prefixes."""

import heapq
from dataclasses import dataclass
from math import log
from random import Random
from typing import Final

from tests.sim.requests import LONGEST_OUTPUT, Draft

TURNS_A_USER: Final = 12
"""Requests of one user in a run: it decides how many users talk at once."""
TENANTS: Final = ("alpha", "beta", "gamma", "delta")
TENANT_WEIGHTS: Final = (4, 3, 2, 1)
MAX_BLOCKS_BITS: Final = 20


@dataclass(frozen=True, slots=True)
class TalkPlan:
    """How sessions look. Lengths are medians (tokens) and sigmas of lognormal distributions."""

    shared: tuple[int, ...]
    """Lengths of the texts that sessions begin with, the most popular first."""
    popularity: float
    """Exponent of the weight of a shared text by its rank; 0 makes all equally popular."""
    message: tuple[float, float]
    output: tuple[float, float]
    mean_turns: float
    max_turns: int = 24
    max_context: int = 14_000
    max_output: int = 2048
    gap_sigma: float = 0.6


def lognormal(rng: Random, median: float, sigma: float, low: int, high: int) -> int:
    """A whole number from a lognormal distribution, kept within bounds."""
    return max(low, min(high, round(rng.lognormvariate(log(median), sigma))))


def block_hashes(
    tokens: int, block_tokens: int, own: int, shared: int = 0, shared_tokens: int = 0
) -> tuple[int, ...]:
    """Hashes of all full blocks of a text that begins with a shared one; both have numbers."""
    common = min(shared_tokens, tokens) // block_tokens
    return tuple(
        ((shared if index < common else own) << MAX_BLOCKS_BITS) | index
        for index in range(tokens // block_tokens)
    )


class _Talk:
    """One session: its text grows by a message and an answer a turn."""

    __slots__ = ("context", "number", "shared", "shared_tokens", "tenant", "turns_left")

    def __init__(self, number: int, plan: TalkPlan, rng: Random) -> None:
        self.number = number
        weights = [(rank + 1) ** -plan.popularity for rank in range(len(plan.shared))]
        self.shared = rng.choices(range(len(plan.shared)), weights)[0]
        self.shared_tokens = plan.shared[self.shared]
        self.context = self.shared_tokens
        self.tenant = rng.choices(TENANTS, TENANT_WEIGHTS)[0]
        self.turns_left = min(plan.max_turns, 1 + int(rng.expovariate(1.0 / plan.mean_turns)))

    def turn(self, at: float, plan: TalkPlan, block_tokens: int, rng: Random) -> Draft:
        """The next request of this conversation."""
        self.context += lognormal(rng, *plan.message, 4, 6000)
        prompt = self.context
        output = lognormal(rng, *plan.output, 2, min(plan.max_output, LONGEST_OUTPUT))
        self.context += output
        self.turns_left -= 1
        hashes = block_hashes(
            self.context, block_tokens, 1000 + self.number, 1 + self.shared, self.shared_tokens
        )
        return Draft(at, prompt, output, f"s{self.number}", self.tenant, hashes)

    def over(self, plan: TalkPlan) -> bool:
        """Whether the next request of this user begins another session."""
        return self.turns_left <= 0 or self.context - self.shared_tokens > plan.max_context


def talk(plan: TalkPlan, count: int, block_tokens: int, rng: Random) -> list[Draft]:
    """`count` requests of users who hold one session after another; a mean gap takes 1.

    Times do not depend on answers: a turn may come before the answer to the one before it.
    """
    users = max(4, count // TURNS_A_USER)
    # exp(mu + sigma^2 / 2) = 1 makes the mean gap 1.
    mu = -(plan.gap_sigma**2) / 2
    talks = [_Talk(number, plan, rng) for number in range(users)]
    due = [(rng.random(), user) for user in range(users)]
    heapq.heapify(due)
    sessions = users
    drafts: list[Draft] = []
    while len(drafts) < count:
        at, user = heapq.heappop(due)
        if talks[user].over(plan):
            talks[user] = _Talk(sessions, plan, rng)
            sessions += 1
        drafts.append(talks[user].turn(at, plan, block_tokens, rng))
        heapq.heappush(due, (at + rng.lognormvariate(mu, plan.gap_sigma), user))
    return drafts


def chat(count: int, block_tokens: int, rng: Random) -> list[Draft]:
    """People who chat, five applications with a system prompt each."""
    plan = TalkPlan(
        shared=tuple(rng.randint(250, 1800) for _ in range(5)),
        popularity=0.7,
        message=(80, 0.9),
        output=(220, 0.8),
        mean_turns=5,
    )
    return talk(plan, count, block_tokens, rng)


def agents(count: int, block_tokens: int, rng: Random) -> list[Draft]:
    """Six applications whose tools and instructions take 5 to 14 thousand tokens."""
    plan = TalkPlan(
        shared=tuple(rng.randint(5_000, 14_000) for _ in range(6)),
        popularity=0.5,
        message=(350, 0.8),
        output=(130, 0.7),
        mean_turns=7,
    )
    return talk(plan, count, block_tokens, rng)
