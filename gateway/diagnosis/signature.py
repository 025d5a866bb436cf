"""What a known error is made of: how to tell it, what it means, how bad it is, what helps."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from gateway.words import Words


class Scope(StrEnum):
    """What an error takes down."""

    STARTUP = "startup"
    """The server does not come up; its port never serves."""
    ENGINE = "engine"
    """The engine dies; the whole server must be started again."""
    REQUEST = "request"
    """One request fails; the server stays."""
    DEGRADED = "degraded"
    """The server works, but slower than it could, or is about to hang."""
    BENIGN = "benign"
    """Looks like an error and is none."""


class Rank(IntEnum):
    """Where an error stands in the chain from cause to fallout; bands, to count up from.

    What happens on the chip or was said plainly comes first, what vLLM makes of it last. A symptom
    explains something only as long as no cause is known.
    """

    SITE = 10
    """Devices, rights, files and ports of the host."""
    REFUSAL = 20
    """The engine says itself what it does not do, or lacks memory for."""
    CAPTURE = 30
    """A graph can't be captured."""
    CHIP = 40
    """An exception while the chip computes or ranks talk to each other."""
    REQUEST = 60
    """About single requests."""
    SYMPTOM = 70
    """Something stopped or broke off; the reason is elsewhere if it is told at all."""
    HINT = 80
    """Nothing broke; worth knowing."""
    FALLOUT = 90
    """A wrapper that reports what was said before it."""
    BENIGN = 99
    """Nothing at all."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A known error.

    A line shows it if it has one of `needles`, or all of `all_needles` and, where there is one, the
    regular expression `pattern`. Letters of either case count; all three are written in lower
    case. It is not reported where one of the errors in `yields_to` (ids) explains the same lines
    better. `is_capture`: it means that graphs can't be captured, so that the server may well run
    eager.
    """

    id: str
    scope: Scope
    layer: str
    rank: int
    cause: Words
    remedy: Words
    needles: tuple[str, ...] = ()
    all_needles: tuple[str, ...] = ()
    pattern: str = ""
    yields_to: tuple[str, ...] = ()
    is_capture: bool = False

    @property
    def is_crash(self) -> bool:
        """Whether the engine is dead after it."""
        return self.scope is Scope.ENGINE

    @property
    def is_fallout(self) -> bool:
        """Whether it only reports what went wrong before it."""
        return Rank.FALLOUT <= self.rank < Rank.BENIGN

    @property
    def is_symptom(self) -> bool:
        """Whether it counts as fallout as soon as a cause is known."""
        return Rank.SYMPTOM <= self.rank < Rank.HINT


def coded(code: int) -> tuple[str, ...]:
    """How ACL, the runtime and torch_npu write an error code.

    A bare number would also be found among times, ids and sizes.
    """
    return (
        f"error code is {code}",
        f"error code:{code}",
        f"error code: {code}",
        f"errcode={code}",
        f"runtime result = {code}",
        f"failed: {code}",
    )
