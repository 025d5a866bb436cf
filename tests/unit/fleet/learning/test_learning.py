"""How fast engines are and how long answers get: what is learnt, and what is not believed."""

from random import Random

import pytest

from gateway.fleet.learning.decode import LOOK_AGAIN_S, DecodeSpeed, Kin, Scale
from gateway.fleet.learning.lengths import UNKNOWN_TOKENS, Histogram, OutputLengths
from gateway.fleet.learning.prefill import PrefillSpeed

PRIOR_S = 0.06


def fed(
    speed: DecodeSpeed, times: dict[int, float], rounds: int = 20, noise: float = 0.0
) -> DecodeSpeed:
    rng = Random(1)
    for _ in range(rounds):
        for size, step_s in times.items():
            speed.add(size, step_s * (1.0 + rng.gauss(0.0, noise)), 30.0, 0.0)
    return speed


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_line_is_found_through_noise(noise: float) -> None:
    sizes = tuple(range(1, 9))
    times = {size: 0.05 + 0.002 * size for size in sizes}
    speed = fed(DecodeSpeed(sizes, 8, PRIOR_S), times, 60, noise)
    for size, step_s in times.items():
        assert speed.step_s(size) == pytest.approx(step_s, rel=0.03)


def test_before_anything_was_seen_the_graph_is_used_whole() -> None:
    speed = DecodeSpeed((1, 4), 8, PRIOR_S)
    assert speed.step_s(1) == pytest.approx(PRIOR_S)
    assert (speed.cap, speed.largest) == (4, 4)


def test_one_that_is_odd_is_dropped_and_several_are_believed() -> None:
    speed = fed(DecodeSpeed((1, 2, 4), 4, PRIOR_S), {1: 0.06, 4: 0.06})
    before_s = speed.step_s(4)
    for _ in range(3):
        speed.add(4, 10 * before_s, 30.0, 0.0)
        assert speed.step_s(4) == before_s
    speed.add(4, 0.06, 30.0, 0.0)
    speed.add(4, 10 * before_s, 30.0, 0.0)
    assert speed.step_s(4) == pytest.approx(before_s, rel=0.01)
    for _ in range(80):
        speed.add(4, 10 * before_s, 30.0, 0.0)
    assert speed.step_s(4) > 5 * before_s


@pytest.mark.parametrize(("size", "step_s", "tokens"), [(0, 0.1, 9), (1, 0.0, 9), (1, 0.1, 0)])
def test_nothing_teaches_nothing(size: int, step_s: float, tokens: float) -> None:
    speed = DecodeSpeed((1, 4), 8, PRIOR_S)
    speed.add(size, step_s, tokens, 0.0)
    assert speed.samples_tokens == (0.0, 0.0)


@pytest.mark.parametrize(
    ("sizes", "times", "cap"),
    [
        ((1, 2, 4), {1: 0.06, 4: 0.062, 5: 0.2}, 4),
        ((1, 2, 4), {1: 0.06, 4: 0.062, 5: 0.065}, 8),
        ((1, 2, 4, 8), {1: 0.06, 4: 0.062, 8: 0.064}, 8),
        ((), {1: 0.18, 4: 0.185}, 8),
    ],
    ids=["cliff", "weak cliff", "full capture", "eager"],
)
def test_the_cap_follows_from_the_times(
    sizes: tuple[int, ...], times: dict[int, float], cap: int
) -> None:
    assert fed(DecodeSpeed(sizes, 8, PRIOR_S), times).cap == cap


def test_kin_share_a_look() -> None:
    kin = Kin()
    one, other = (fed(DecodeSpeed((1, 4), 8, PRIOR_S, kin), {1: 0.06, 4: 0.062}) for _ in "ab")
    assert not one.may_look(False, 100.0)
    assert one.cap_with(True, 100.0) == 5
    one.looked(100.0)
    assert other.cap_with(True, 101.0) == 4
    one.add(5, 0.065, 30.0, 110.0)
    assert kin.eager is not None
    other.add(1, 0.06, 30.0, 111.0)
    assert other.step_s(5) < 0.08
    assert other.cap == 8
    assert not other.may_look(True, 100.0 + LOOK_AGAIN_S)


def test_an_undeclared_edge_is_found() -> None:
    """By one that is used as the cap says, on an engine that has captured 1 and 4."""
    speed = DecodeSpeed(None, 8, PRIOR_S)
    for _ in range(60):
        size = speed.cap_with(True, 0.0)
        for batch in range(1, size + 1):
            speed.add(batch, 0.062 if batch <= 4 else 0.2, 10.0, 0.0)
    assert (speed.cap, speed.largest) == (4, 4)


def test_an_engine_begun_anew_knows_nothing() -> None:
    speed = fed(DecodeSpeed((1, 4), 8, PRIOR_S), {1: 0.1, 4: 0.11})
    assert speed.anew().samples_tokens == (0.0, 0.0)


def test_prefill_speed_is_found_through_noise() -> None:
    rng, speed = Random(2), PrefillSpeed()
    for _ in range(200):
        tokens = rng.randrange(100, 4000)
        speed.add(tokens, (0.1 + tokens / 800) * (1 + rng.gauss(0, 0.03)) + 0.03, 0.06)
    assert 1 / speed.reading.token_s == pytest.approx(800, rel=0.1)
    assert 0 < speed.reading.fix_s < 0.3


def test_a_prompt_that_waited_for_something_else_moves_little() -> None:
    speed = PrefillSpeed()
    for _ in range(50):
        speed.add(1000, 1.0, 0.0)
    before_s = speed.reading.token_s
    speed.add(1000, 1000.0, 0.0)
    assert speed.reading.token_s < 1.3 * before_s


def test_short_prompts_say_nothing_of_the_speed() -> None:
    speed = PrefillSpeed()
    before_s = speed.reading.token_s
    speed.add(10, 3.0, 0.0)
    assert (speed.samples, speed.reading.token_s) == (0, before_s)


@pytest.mark.parametrize(("count", "expected"), [(0, 256.0), (7, 256.0), (20, 40.0)])
def test_answers_are_unknown_until_some_were_seen(count: int, expected: float) -> None:
    lengths = OutputLengths()
    for _ in range(count):
        lengths.add(40, None)
    assert lengths.left_tokens(0, None) == pytest.approx(expected, rel=0.1)
    assert UNKNOWN_TOKENS == 256.0


def test_what_is_left_against_brute_force() -> None:
    rng, histogram = Random(3), Histogram()
    answers = [max(1, int(rng.lognormvariate(5.0, 1.0))) for _ in range(1500)]
    for tokens in answers:
        histogram.add(tokens)
    # Older ones have faded.
    weights = [0.995 ** (len(answers) - 1 - index) for index in range(len(answers))]
    for done in (0, 20, 100, 300):
        longer = [(w, n - done) for w, n in zip(weights, answers, strict=True) if n > done]
        expected = sum(w * n for w, n in longer) / sum(w for w, _ in longer)
        assert histogram.left_after(done) == pytest.approx(expected, rel=0.15)


def test_a_limit_has_answers_of_its_own_and_is_never_passed() -> None:
    lengths = OutputLengths()
    for _ in range(30):
        lengths.add(10, 64)
        lengths.add(1000, 4096)
    assert lengths.left_tokens(0, 64) == pytest.approx(10, rel=0.2)
    assert lengths.left_tokens(0, 4096) == pytest.approx(1000, rel=0.2)
    assert lengths.left_tokens(0, 200) <= 200
    assert lengths.left_tokens(3900, 4096) <= 196
    assert lengths.left_tokens(9999, 4096) == 1.0


def test_a_slow_minute_is_forgiven() -> None:
    """Whoever looks slow gets no requests, and so nothing that could put it right."""
    decode = DecodeSpeed((1, 4), 8, 0.06)
    decode.add(1, 6.0, 4, 0.0)
    assert decode.step_s(1) <= 4.1 * 0.06
    for at in range(1, 20):
        decode.add(1, 0.6, 32, float(at))
    slow_s = decode.step_s(1)
    assert slow_s > 0.3
    decode.forgive(50.0)
    assert decode.step_s(1) == slow_s
    for minute in range(2, 12):
        decode.forgive(60.0 * minute)
    assert decode.step_s(1) <= 2.6 * 0.06


@pytest.mark.parametrize("sizes", [(1, 4), (), None], ids=["graph", "eager", "undeclared"])
def test_a_few_tokens_do_not_send_everybody_elsewhere(sizes: tuple[int, ...] | None) -> None:
    """Of two alike, one has had a stream of two tokens, held up by something else."""
    scale = Scale()
    one, other = (DecodeSpeed(sizes, 8, PRIOR_S, Kin(), scale) for _ in "ab")
    one.add(1, 4.0, 2.0, 0.0)
    assert other.step_s(1) < one.step_s(1) < 1.2 * other.step_s(1)
    for _ in range(20):
        one.add(1, 0.1, 8.0, 0.0)
    assert one.step_s(1) == pytest.approx(0.1, rel=0.05)


def test_looks_that_see_nothing_become_rare() -> None:
    decode = DecodeSpeed((1, 4), 8, 0.06)
    looks = 0
    for second in range(0, 3600, 10):
        if decode.may_look(True, float(second)):
            decode.looked(float(second))
            looks += 1
    assert 2 <= looks <= 8


@pytest.mark.parametrize("size", [1, 64, 200, 65536])
def test_no_step_takes_less_than_nothing(size: int) -> None:
    decode = DecodeSpeed(None, 65536, 0.06)
    for tokens in (1, 8, 32):
        decode.add(size, 0.001, tokens, 0.0)
    assert min(decode.steps[1:]) > 0


def test_one_slow_prompt_does_not_send_everybody_elsewhere() -> None:
    kin = PrefillSpeed()
    one, other = PrefillSpeed(kin), PrefillSpeed(kin)
    one.add(2, 0.4, 0.0)
    assert other.reading.fix_s < one.reading.fix_s + 1e-9 < 1.2 * other.reading.fix_s
    for _ in range(40):
        one.add(2, 0.02, 0.0)
    assert one.reading.fix_s < 0.05
