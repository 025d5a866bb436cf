from typing import Final

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.rules.reading import is_hybrid
from tests.unit.adoption.rules.backends import Case, backend, case, found_in, log

PLAIN: Final = {"model": "/models/Qwen3-8B", "served_names": ("qwen3-8b",)}

FIRES: Final = (
    case(
        Code.MAMBA_MODE_WRONG,
        "all",
        backend({"mamba_cache_mode": "all"}),
        mode="all",
        model="/models/Qwen3.5-9B",
    ),
    case(Code.MAMBA_MODE_WRONG, "none", backend({"mamba_cache_mode": "none"})),
    case(
        Code.MAMBA_MODE_UNSET,
        "not given",
        backend({"mamba_cache_mode": None}),
        model="/models/Qwen3.5-9B",
    ),
    case(Code.ALIGN_WITHOUT_CHUNKS, "switched off", backend({"has_chunked_prefill": False})),
    case(Code.PREFIX_HITS_ZERO, "no hit", backend(log=log(prefix_hit_ratio=0.0))),
)

QUIET: Final = (
    case(Code.MAMBA_MODE_WRONG, "align", backend()),
    case(
        Code.MAMBA_MODE_WRONG,
        "no prefix caching",
        backend({"mamba_cache_mode": "none", "has_prefix_caching": False}),
    ),
    case(Code.MAMBA_MODE_WRONG, "plain attention", backend(PLAIN | {"mamba_cache_mode": "all"})),
    case(
        Code.MAMBA_MODE_UNSET,
        "prefix caching not asked for",
        backend({"mamba_cache_mode": None, "has_prefix_caching": None}),
    ),
    case(Code.MAMBA_MODE_UNSET, "plain attention", backend(PLAIN | {"mamba_cache_mode": None})),
    case(Code.ALIGN_WITHOUT_CHUNKS, "on", backend({"has_chunked_prefill": True})),
    case(Code.ALIGN_WITHOUT_CHUNKS, "the default is on", backend()),
    case(
        Code.ALIGN_WITHOUT_CHUNKS,
        "another mode",
        backend({"has_chunked_prefill": False, "mamba_cache_mode": "none"}),
    ),
    case(Code.PREFIX_HITS_ZERO, "hits", backend(log=log(prefix_hit_ratio=0.4))),
    case(Code.PREFIX_HITS_ZERO, "not told", backend(log=log())),
    case(Code.PREFIX_HITS_ZERO, "plain attention", backend(PLAIN, log=log(prefix_hit_ratio=0.0))),
    case(
        Code.PREFIX_HITS_ZERO,
        "no prefix caching",
        backend({"has_prefix_caching": False}, log=log(prefix_hit_ratio=0.0)),
    ),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []


@pytest.mark.parametrize(
    ("path", "mixes"),
    [
        ("/models/Qwen3.5-9B", True),
        ("/models/qwen3.5-27B-w8a8/", True),
        ("/share/weight/Qwen3.6-35B-A3B", True),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", True),
        ("/models/qwen3_next", True),
        ("/models/Qwen3-8B", False),
        ("/models/Qwen2.5-7B", False),
        ("/qwen3.5/Llama-3-8B", False),
        ("/models/Qwen3-4B-Instruct-2507", False),
        ("/models/m1", False),
    ],
)
def test_models_that_mix_kinds_of_attention(path: str, mixes: bool) -> None:
    assert is_hybrid(backend({"model": path, "served_names": ("m",)})) is mixes


def test_a_served_name_counts_where_the_path_says_nothing() -> None:
    assert is_hybrid(backend({"model": "/models/m1"}))
    assert not is_hybrid(backend({"model": "/models/Qwen3-8B"}))
