import pytest

from gateway.adoption.engine.numbers import decimal_number, human_number, whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("8", 8),
        (" 8 ", 8),
        ("32k", 32_000),
        ("1K", 1_024),
        ("25.6k", 25_600),
        ("2M", 2_097_152),
        ("2m", 2_000_000),
        ("1g", 1_000_000_000),
        ("1T", 1_099_511_627_776),
        ("1.5K", None),
        ("8kb", None),
        ("8 k", None),
        ("k", None),
        ("", None),
        ("1e3", None),
        ("0x10", None),
        ("9" * 5_000, None),
        ("9" * 5_000 + "k", None),
    ],
)
def test_human_numbers(text: str, number: int | None) -> None:
    assert human_number(text) == number


@pytest.mark.parametrize(("text", "number"), [("-1", -1), ("8k", None), ("8.0", None)])
def test_whole_numbers(text: str, number: int | None) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    ("text", "number"), [("0.9", 0.9), (".9", 0.9), ("1", 1.0), ("90%", None), ("nan", None)]
)
def test_decimal_numbers(text: str, number: float | None) -> None:
    assert decimal_number(text) == number
