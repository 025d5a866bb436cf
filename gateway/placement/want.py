"""A request that wants a place, and what is decided about it."""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from gateway.fleet.view import BackendView, Load, ModelView
from gateway.placement.affinity import PrefixIndex
from gateway.placement.cost import Ask
from gateway.placement.eligible import Need, Refused, refusals
from gateway.placement.rule import Choice, Option

_FIRST_BLOCKS: Final = 4


class Kind(StrEnum):
    """What a request makes an engine do."""

    GENERATE = "generate"
    """Tokens, one after the other: it takes a place in the batch."""
    COMPUTE = "compute"
    """One pass over its text, such as an embedding."""
    ASK = "ask"
    """Nothing of the engine itself, such as counting tokens: it never waits."""


class Domain(NamedTuple):
    """Where something failed: a node, and a card on it ("" if unknown)."""

    node: str
    card: str


class Want:
    """A request that wants a place.

    `prefix` are the hashes of its prompt's blocks; `tenant` is whose it is for fairness,
    `priority` lower for sooner. `home` is the backend that has its conversation, "" if none, and
    `is_bound` says that no other one can know it; `failed_in` is where it failed before.
    """

    __slots__ = (
        "_matches",
        "arrival_s",
        "failed_in",
        "home",
        "id",
        "is_bound",
        "kind",
        "limit_tokens",
        "need",
        "prefix",
        "priority",
        "prompt_tokens",
        "sequences",
        "tenant",
        "tried",
    )

    def __init__(
        self,
        id: str,  # noqa: A002 - it is the id
        arrival_s: float,
        prompt_tokens: int,
        limit_tokens: int | None,
        prefix: Sequence[int] = (),
        tenant: str = "",
        priority: int = 0,
        need: Need | None = None,
        tried: Collection[str] = (),
    ) -> None:
        self.id = id
        self.arrival_s = arrival_s
        self.prompt_tokens = prompt_tokens
        self.limit_tokens = limit_tokens
        self.prefix = prefix
        self.tenant = tenant
        self.priority = priority
        self.need = need or Need()
        self.tried = tried
        self.failed_in: Sequence[Domain] = ()
        self.home = ""
        self.is_bound = False
        self.kind = Kind.GENERATE
        self.sequences = 1
        self._matches: dict[str, tuple[int, float]] = {}

    def __repr__(self) -> str:
        return f"<Want {self.id} {self.prompt_tokens} tokens>"

    def chance(self) -> float:
        """A number from 0 to 1 that the beginning of its prompt makes, at all gateways alike."""
        first = self.prefix[min(len(self.prefix), _FIRST_BLOCKS) - 1]
        return (first & 0xFFFFFFFF) / 2**32

    def uncached_tokens(self, backend: str, index: PrefixIndex) -> float:
        """Tokens of the prompt that the backend is thought to have to compute."""
        if not self.prefix:
            return self.prompt_tokens
        known = self._matches.get(backend)
        if known is not None and known[0] == index.version:
            return known[1]
        matched, tail_tokens = index.match(self.prefix)
        # Only what is new is guessed: the error of the estimate does not grow with what is known.
        share = 1.0 - matched / (len(self.prefix) + 0.5)
        uncached = max(1.0, self.prompt_tokens * share - tail_tokens)
        self._matches[backend] = (index.version, uncached)
        return uncached


class Placed(NamedTuple):
    """A decision about one request: a backend, or None when none of the model's may serve it.

    `options` are the backends that might have, with the choice among them; `view` is what all of
    them looked like and `tried` whom the request had asked before.
    """

    want: Want
    backend: BackendView | None
    view: ModelView
    tried: tuple[str, ...]
    options: tuple[Option, ...] = ()
    choice: Choice | None = None

    @property
    def ask(self) -> Ask:
        """What the request asks of the chosen backend."""
        assert self.choice is not None
        return self.options[self.choice.chosen].ask

    @property
    def cap(self) -> int:
        """How many requests the chosen backend may have now."""
        assert self.choice is not None
        return self.options[self.choice.chosen].cap

    @property
    def load(self) -> Load:
        """What the chosen backend had to do before."""
        assert self.backend is not None
        return self.backend.load

    @property
    def refused(self) -> tuple[Refused, ...]:
        """Why each of the other backends may not serve it."""
        return refusals(self.view, self.want.need, self.tried)
