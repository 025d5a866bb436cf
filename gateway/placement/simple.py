"""The simple rules, selectable per model: each keeps to the cap, and waits where all are full."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

from gateway.placement.rule import Choice, Draw, Option, Pressure

_UNKNOWN_RATIO: Final = 0.5
_A_LITTLE: Final = 0.1


class _Ranked:
    """Takes the least by a score, of those with room; with none, waits for the least of all."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def choose(self, options: Sequence[Option], pressure: Pressure, draw: Draw) -> Choice:
        """As `Rule`; a draw decides between equals."""
        best, least, equals = 0, (True, float("inf")), 1
        for index, option in enumerate(options):
            score = (not option.has_room, self._score(index, option, options, pressure))
            score = (score[0], score[1] + option.penalty_s)
            if score < least:
                best, least, equals = index, score, 1
            elif score == least:
                equals += 1
                if draw() * equals < 1.0:
                    best = index
        reason = f"{self._what}: {least[1]:.3g}"
        return Choice(best, options[best].has_room, reason=reason)

    _what = "score"

    @abstractmethod
    def _score(
        self, index: int, option: Option, options: Sequence[Option], pressure: Pressure
    ) -> float:
        """Lower is better; what speaks against a backend is added to it."""


class RoundRobin(_Ranked):
    """One after the other, in the order of the routing file."""

    __slots__ = ()
    _what = "places until its turn"

    def _score(
        self, index: int, option: Option, options: Sequence[Option], pressure: Pressure
    ) -> float:
        return (index - pressure.placed_total) % len(options)


class LeastInflight(_Ranked):
    """The fewest requests for its cap and weight."""

    __slots__ = ()
    _what = "load of its cap"

    def _score(
        self, index: int, option: Option, options: Sequence[Option], pressure: Pressure
    ) -> float:
        return (option.running + 1) / (option.cap * option.backend.facts.weight)


class LeastKv(_Ranked):
    """The least of its KV memory in use; where that is not known, it counts as half."""

    __slots__ = ()
    _what = "KV memory in use"

    def _score(
        self, index: int, option: Option, options: Sequence[Option], pressure: Pressure
    ) -> float:
        view = option.backend
        told, size = view.load.kv_ratio, view.speed.kv_tokens
        reckoned = None if size is None else view.load.context_tokens / size
        if told is None:
            # Not known is neither empty nor full; among several, the load decides.
            return max(reckoned or 0.0, _UNKNOWN_RATIO) + _A_LITTLE * option.running / option.cap
        return max(reckoned or 0.0, told)


class Prefix(_Ranked):
    """The most of its prompt in the cache; with equal ones, the fewest requests."""

    __slots__ = ()
    _what = "prompt not cached, and load"

    def _score(
        self, index: int, option: Option, options: Sequence[Option], pressure: Pressure
    ) -> float:
        ask = option.ask
        return ask.uncached_tokens / max(1, ask.prompt_tokens) + 0.1 * option.running / option.cap


class Weighted(_Ranked):
    """In proportion to the weights of the routing file, whatever runs there."""

    __slots__ = ()
    _what = "requests for its weight"

    def _score(
        self, index: int, option: Option, options: Sequence[Option], pressure: Pressure
    ) -> float:
        return (option.running + 1) / option.backend.facts.weight
