import pytest

from gateway.adoption.engine.option_names import (
    ALIASES,
    ENDED,
    FLAGS,
    LISTS,
    SINGLE,
    SWITCHES,
    TREES,
)
from gateway.adoption.engine.options import Takes, find_option, is_secret, nearest


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("--max-num-seqs", "max-num-seqs"),
        ("--max_num_seqs", "max-num-seqs"),
        ("--max-num-se", "max-num-seqs"),
        ("--gpu_mem", "gpu-memory-utilization"),
        ("--device-memory-utilization", "gpu-memory-utilization"),
        ("-tp", "tensor-parallel-size"),
        ("-dpn", "data-parallel-rank"),
        ("-cc", "compilation-config"),
        ("--swap-space", "swap-space"),
    ],
)
def test_spellings(spelling: str, name: str) -> None:
    option = find_option(spelling)
    assert option is not None
    assert (option.name, option.is_off) == (name, False)


@pytest.mark.parametrize(
    "spelling",
    ["--max-num", "--MAX-NUM-SEQS", "--max-num-seq-s", "-x", "--", "-", "", "--swap", "--no-port"],
)
def test_no_option(spelling: str) -> None:
    assert find_option(spelling) is None


def test_flags_have_an_off_form_and_switches_do_not() -> None:
    off = find_option("--no-enable-prefix-caching")
    assert off is not None
    assert (off.name, off.is_off, off.takes) == ("enable-prefix-caching", True, Takes.NOTHING)
    assert find_option("--no-headless") is None


@pytest.mark.parametrize(
    ("spelling", "near"),
    [
        ("--max-num-seq-s", "--max-num-seqs"),
        ("--tensor-paralell-size", "--tensor-parallel-size"),
        ("-served-model-name", "--served-model-name"),
        ("--frobnicate", ""),
        ("--" + "x" * 10_000, ""),
    ],
)
def test_what_was_probably_meant(spelling: str, near: str) -> None:
    assert nearest(spelling) == near


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("api-key", True),
        ("hf-token", True),
        ("--apikey", True),
        ("--api_token", True),
        ("max-num-batched-tokens", False),
        ("tokenizer", False),
        ("ssl-keyfile", False),
        ("--port", False),
    ],
)
def test_what_must_not_be_shown(name: str, secret: bool) -> None:
    assert is_secret(name) is secret


def test_no_option_is_of_two_kinds_and_aliases_lead_somewhere() -> None:
    kinds = (FLAGS, SWITCHES, SINGLE, TREES, LISTS)
    assert sum(map(len, kinds)) == len(frozenset().union(*kinds))
    assert set(ALIASES.values()) <= frozenset().union(*kinds)
    assert set(ENDED) <= frozenset().union(*kinds)
