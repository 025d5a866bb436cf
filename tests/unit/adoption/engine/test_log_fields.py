import pytest

from gateway.adoption.engine.log_fields import (
    graph_mode_in,
    number_in,
    sizes_in,
    truth_in,
    word_in,
    words_in,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("{'kv_port': 1, 'port': 12320}", 12320),
        ("Namespace(api_port=1, port=12320)", 12320),
        ('{"port":12320}', 12320),
        ("{'port': None}", None),
        ("port", None),
        ("", None),
    ],
)
def test_numbers(text: str, number: int | None) -> None:
    assert number_in(text, "port") == number


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("'served_model_name': ['a', 'b']", ("a", "b")),
        ('served_model_name=["it\'s"]', ("it's",)),
        ("served_model_name=/models/x, seed=0", ("/models/x",)),
        ("'served_model_name': 'a'", ("a",)),
        ("served_model_name=None, seed=0", ()),
        ("'served_model_name': []", ()),
        ("", ()),
    ],
)
def test_names(text: str, words: tuple[str, ...]) -> None:
    assert words_in(text, "served_model_name") == words


def test_a_model_is_not_that_of_the_tokenizer_or_the_draft() -> None:
    text = "tokenizer_model='t', model='/m', speculative_config={'model': '/d'}"
    assert word_in(text, "model") == "/m"


@pytest.mark.parametrize(
    ("text", "truth"),
    [("enforce_eager=False,", False), ("'enforce_eager': True}", True), ("enforce_eager=x", None)],
)
def test_truths(text: str, truth: bool | None) -> None:
    assert truth_in(text, "enforce_eager") is truth


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("'cudagraph_capture_sizes': [1, 4]", (1, 4)),
        ('"cudagraph_capture_sizes":[512,4,1]', (1, 4, 512)),
        ("'cudagraph_capture_sizes': []", ()),
        ("'cudagraph_capture_sizes': None", None),
    ],
)
def test_sizes(text: str, sizes: tuple[int, ...] | None) -> None:
    assert sizes_in(text, "cudagraph_capture_sizes") == sizes


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("'cudagraph_mode': <CUDAGraphMode.FULL_DECODE_ONLY: (2, 0)>", "FULL_DECODE_ONLY"),
        ("'cudagraph_mode': <CUDAGraphMode.NONE: 0>", "NONE"),
        ('"cudagraph_mode":[2,0]', "FULL_DECODE_ONLY"),
        ('"cudagraph_mode":[2,1]', "FULL_AND_PIECEWISE"),
        ('"cudagraph_mode":1,', "PIECEWISE"),
        ("'cudagraph_mode': 'full'", "FULL"),
        ("cudagraph_mode=CUDAGraphMode.PIECEWISE", "PIECEWISE"),
        ("'cudagraph_mode': None", None),
        ("'cudagraph_mode': <CUDAGraphMode.NEW: 9>", None),
        ('"cudagraph_mode":[0,1]', None),
    ],
)
def test_graph_modes(text: str, mode: str | None) -> None:
    assert graph_mode_in(text) == mode
