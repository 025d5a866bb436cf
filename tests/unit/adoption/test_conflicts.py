"""Which of several candidates can run together, and where a model is said to be at two ports."""

from typing import Any

import pytest

from gateway.adoption.candidate import Candidate, Guess
from gateway.adoption.codes import Code
from gateway.adoption.conflicts import disable_colliding, guesses_told, two_ports
from gateway.adoption.findings import Origin
from gateway.config.vocabulary import Tier
from gateway.fleet.account import Account


def one(name: str, port: int, *npus: int, file: str = "a.sh", **fields: Any) -> Candidate:
    return Candidate(
        **{
            "name": name,
            "port": port,
            "npus": npus,
            "origins": (Origin(file, port),),
            "served_names": (name.partition("#")[0],),
            **fields,
        }
    )


SEEN = Account("http://x:1")


@pytest.mark.parametrize(
    ("candidates", "disabled_by"),
    [
        ([one("a", 1, 0), one("b", 2, 1)], ["", ""]),
        ([one("a", 1), one("b", 1)], ["", "a"]),
        ([one("a", 1, host="localhost"), one("b", 1, host="::1")], ["", "a"]),
        ([one("a", 1, host="h"), one("b", 1, host="i")], ["", ""]),
        ([one("a", 1, 0, 1), one("b", 2, 1, 2)], ["", "a"]),
        ([one("a", 1, 0, host="h"), one("b", 2, 0, host="i")], ["", ""]),
        ([one("a", 1, 0, host="h", node="n"), one("b", 2, 0, host="i", node="n")], ["", "a"]),
        # who is disabled stands in nobody's way
        ([one("a", 1, 0), one("b", 1, 5), one("c", 2, 5)], ["", "a", ""]),
        # what runs stays
        ([one("a", 1, 0), one("b", 1, 5, account=SEEN)], ["b", ""]),
        ([one("a", 1, account=SEEN), one("b", 1, account=SEEN)], ["", "a"]),
    ],
)
def test_of_two_that_collide_one_is_disabled(
    candidates: list[Candidate], disabled_by: list[str]
) -> None:
    settled = disable_colliding(candidates)
    assert [candidate.name for candidate in settled] == [c.name for c in candidates]
    assert [candidate.disabled_by for candidate in settled] == disabled_by


@pytest.mark.parametrize(
    ("first", "second", "is_told"),
    [
        (one("a", 1), one("a#2", 2, file="b.sh"), True),
        (one("a", 1, 0), one("a#2", 2, 0, file="b.sh"), True),
        (one("a", 1, 0), one("a#2", 2, 1, file="b.sh"), False),  # a copy
        (one("a", 1, 0), one("a#2", 2, 1, file="b.sh", disabled_by="x"), True),
        (one("a", 1), one("a#2", 2), False),  # one source knows what it does
        (one("a", 1), one("a#2", 1, file="b.sh"), False),  # told as one address
        (one("a", 1, host="h"), one("a#2", 2, file="b.sh"), False),
        (one("a", 1), one("b", 2, file="b.sh"), False),
        (one("a", 1), one("a#2", 2, file="b.sh", tier=Tier.EAGER), False),
    ],
)
def test_a_model_at_two_ports(first: Candidate, second: Candidate, is_told: bool) -> None:
    found = list(two_ports([first, second]))
    assert [finding.code for finding in found] == ([Code.MODEL_AT_TWO_PORTS] if is_told else [])
    for finding in found:
        assert (finding.values["port"], finding.values["other_port"]) == ("1", "2")
        assert finding.backend == "a#2"


def test_a_third_port_is_told_once() -> None:
    candidates = [one(f"a#{n}", n, file=f"{n}.sh") for n in (1, 2, 3)]
    assert [(f.backend, f.values["port"]) for f in two_ports(candidates)] == [
        ("a#2", "1"),
        ("a#3", "1"),
    ]


def test_every_guess_is_a_finding_and_hosts_are_one() -> None:
    guess = Guess("chip", "A2", Code.CHIP_ASSUMED, {"chip": "A2", "reason": "r"})
    candidates = [
        one("a", 1, guesses=(guess,), is_host_guessed=True),
        one("b", 2, is_host_guessed=True),
        one("c", 3, host="h"),
    ]
    told = list(guesses_told(candidates))
    assert [(f.code, f.backend) for f in told] == [
        (Code.CHIP_ASSUMED, "a"),
        (Code.HOST_ASSUMED, ""),
    ]
    assert told[1].values == {"names": "a, b", "host": "127.0.0.1"}
