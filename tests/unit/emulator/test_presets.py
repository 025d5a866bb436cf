"""The presets have the published speeds: tokens per second of all streams, in virtual time."""

import pytest

from gateway.emulator.engine import Engine
from gateway.emulator.generation import Generation, Limits
from gateway.emulator.kv import TokenBlockHashes
from gateway.emulator.presets import PRESETS, preset
from gateway.emulator.records import EngineRequest

TOLERANCE = 0.03
TOKENS = 60
NO_END = Limits(
    max_tokens=TOKENS, min_tokens=TOKENS, ignore_eos=True, stop=(), include_stop=False, eos_one_in=8
)


def decode_rate(name: str, streams: int) -> float:
    """Tokens a second of all streams together, while each of them only decodes."""
    spec = preset(name)
    engine = Engine(spec)
    for number in range(streams):
        ids = [10 + number] * 8
        source = Generation(ids, NO_END, seed=0, script=None)
        engine.submit(
            EngineRequest(str(number), len(ids), source, TokenBlockHashes(ids, spec.block_size)),
            0.0,
        )
    now, tokens, spent_s = 0.0, 0, 0.0
    while not engine.idle:
        step = engine.begin_step(now)
        assert step is not None
        began, now = now, now + step.duration_s
        result = engine.finish_step(step, ended=now)
        is_whole = len(result.tokens) == streams and result.load.prefill_tokens == 0
        if is_whole:
            tokens += len(result.tokens)
            spent_s += now - began
    assert tokens > TOKENS / 2
    return tokens / spent_s


@pytest.mark.parametrize(
    ("name", "streams", "tokens_per_s"),
    [
        ("310p-9b-graph", 1, 17.0),
        ("310p-9b-graph", 4, 60.0),
        ("310p-9b-graph", 5, 27.0),
        ("310p-9b-graph", 8, 41.0),
        ("310p-9b-eager", 1, 5.8),
        ("310p-27b-graph", 1, 4.5),
    ],
)
def test_published_speeds(name: str, streams: int, tokens_per_s: float) -> None:
    assert decode_rate(name, streams) == pytest.approx(tokens_per_s, rel=TOLERANCE)


def test_five_streams_are_slower_in_total_than_four() -> None:
    assert decode_rate("310p-9b-graph", 5) < 0.5 * decode_rate("310p-9b-graph", 4)


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="310p-9b-graph") as caught:
        preset("310p")
    assert all(name in str(caught.value) for name in PRESETS)
