from typing import Final

import pytest

from gateway.adoption.codes import Code
from gateway.config.vocabulary import Chip
from tests.unit.adoption.rules.backends import Case, backend, case, found_in

MTP: Final = {"has_speculation": True, "speculative_tokens": 1, "speculative_method": "mtp"}
PLAIN: Final = {"model": "/models/Qwen3-8B", "served_names": ("qwen3-8b",)}
OLD: Final = {"version": (0, 20, 2), "version_text": "v0.20.2rc1-310p-openeuler"}
A2: Final = {"chip": Chip.A2}

FIRES: Final = (
    case(
        Code.GRAPH_MODE_310P,
        "another one",
        backend({"cudagraph_mode": "FULL_AND_PIECEWISE"}),
        mode="FULL_AND_PIECEWISE",
    ),
    case(
        Code.GRAPH_MODE_310P,
        "the default up to 0.20",
        backend({"cudagraph_mode": None}, **OLD),
        mode="PIECEWISE",
    ),
    case(
        Code.GRAPH_MODE_310P,
        "the default from 0.21",
        backend({"cudagraph_mode": None}),
        mode="FULL_AND_PIECEWISE",
    ),
    case(
        Code.GRAPH_MODE_310P,
        "the default of a version that is not told",
        backend({"cudagraph_mode": None}, version=None),
        mode="PIECEWISE / FULL_AND_PIECEWISE",
    ),
    case(
        Code.SPECULATION_310P,
        "0.20",
        backend(MTP, **OLD),
        method="mtp",
        version="v0.20.2rc1-310p-openeuler",
    ),
    case(
        Code.SPECULATION_310P,
        "no version",
        backend(MTP, version=None, version_text=""),
        version="?",
    ),
    case(
        Code.SPECULATION_310P,
        "eager does not help",
        backend(MTP | {"is_enforce_eager": True}, **OLD),
    ),
    case(
        Code.SPECULATION_WITH_PREFIX_310P,
        "0.23",
        backend(MTP),
        method="mtp",
        version="v0.23.0-310p",
    ),
    case(Code.AIV_310P, "set", backend(env={"HCCL_OP_EXPANSION_MODE": "AIV"})),
    case(Code.DTYPE_310P, "not given", backend({"dtype": None}), dtype="auto"),
    case(Code.DTYPE_310P, "bfloat16", backend({"dtype": "bfloat16"}), dtype="bfloat16"),
    case(
        Code.SSM_DTYPE_310P,
        "not given",
        backend({"mamba_ssm_cache_dtype": None}),
        dtype="auto",
        model="/models/Qwen3.5-9B",
    ),
    case(Code.SSM_DTYPE_310P, "float32", backend({"mamba_ssm_cache_dtype": "float32"})),
    case(
        Code.SSM_DTYPE_310P,
        "Qwen3-Next",
        backend({"model": "Qwen/Qwen3-Next-80B-A3B", "mamba_ssm_cache_dtype": None}),
    ),
    case(
        Code.FUSE_NORM_QUANT_310P,
        "not given",
        backend({"fuse_norm_quant": None}, **OLD),
        version="v0.20.2rc1-310p-openeuler",
    ),
    case(Code.FUSE_NORM_QUANT_310P, "on", backend({"fuse_norm_quant": True}, **OLD)),
    case(
        Code.UNSUPPORTED_310P,
        "disaggregation",
        backend({"has_kv_transfer": True}),
        asked="--kv-transfer-config",
    ),
    case(Code.UNSUPPORTED_310P, "LoRA", backend({"is_lora_enabled": True}), asked="--enable-lora"),
    case(
        Code.UNSUPPORTED_310P,
        "stages",
        backend({"pipeline_parallel": 2}),
        asked="--pipeline-parallel-size 2",
    ),
    case(
        Code.UNSUPPORTED_310P,
        "an 8-bit cache",
        backend({"kv_cache_dtype": "fp8_e4m3"}),
        asked="--kv-cache-dtype fp8_e4m3",
    ),
    case(
        Code.UNSUPPORTED_310P,
        "a compiler that only others have",
        backend({"is_npugraph_ex": True}, **OLD),
        asked='"enable_npugraph_ex": true',
    ),
    case(
        Code.UNSUPPORTED_310P,
        "a model with latent attention",
        backend({"model": "/models/DeepSeek-V3.1", "served_names": ("ds",)}),
        asked="/models/DeepSeek-V3.1",
    ),
    case(
        Code.NOT_LISTED_310P,
        "Qwen3.5 on 0.20",
        backend(**OLD),
        model="/models/Qwen3.5-9B",
        version="v0.20.2rc1-310p-openeuler",
    ),
)

QUIET: Final = (
    case(Code.GRAPH_MODE_310P, "the right one", backend()),
    case(Code.GRAPH_MODE_310P, "another chip", backend({"cudagraph_mode": "FULL"}, **A2)),
    case(
        Code.GRAPH_MODE_310P,
        "eager",
        backend({"cudagraph_mode": None, "is_enforce_eager": True}),
    ),
    case(Code.GRAPH_MODE_310P, "no graphs", backend({"cudagraph_mode": "NONE"})),
    case(Code.SPECULATION_310P, "0.21 can", backend(MTP, version=(0, 21, 0))),
    case(Code.SPECULATION_310P, "another chip", backend(MTP, **OLD | A2)),
    case(Code.SPECULATION_310P, "none", backend(**OLD)),
    case(
        Code.SPECULATION_WITH_PREFIX_310P,
        "no prefix caching",
        backend(MTP | {"has_prefix_caching": False}),
    ),
    case(
        Code.SPECULATION_WITH_PREFIX_310P,
        "0.20 fails altogether, which is told as that",
        backend(MTP, **OLD),
    ),
    case(Code.AIV_310P, "another chip", backend(env={"HCCL_OP_EXPANSION_MODE": "AIV"}, **A2)),
    case(Code.AIV_310P, "another mode", backend(env={"HCCL_OP_EXPANSION_MODE": "AI_CPU"})),
    case(Code.DTYPE_310P, "half", backend({"dtype": "half"})),
    case(Code.DTYPE_310P, "another chip", backend({"dtype": "bfloat16"}, **A2)),
    case(Code.SSM_DTYPE_310P, "float16", backend()),
    case(Code.SSM_DTYPE_310P, "plain attention", backend(PLAIN | {"mamba_ssm_cache_dtype": None})),
    case(Code.SSM_DTYPE_310P, "another chip", backend({"mamba_ssm_cache_dtype": None}, **A2)),
    case(Code.FUSE_NORM_QUANT_310P, "off", backend(**OLD)),
    case(Code.FUSE_NORM_QUANT_310P, "0.23 does it", backend({"fuse_norm_quant": None})),
    case(
        Code.FUSE_NORM_QUANT_310P,
        "version not told",
        backend({"fuse_norm_quant": None}, version=None),
    ),
    case(
        Code.FUSE_NORM_QUANT_310P,
        "eager fuses nothing",
        backend({"fuse_norm_quant": None, "is_enforce_eager": True}, **OLD),
    ),
    case(Code.UNSUPPORTED_310P, "nothing of it", backend()),
    case(
        Code.UNSUPPORTED_310P,
        "another chip",
        backend({"has_kv_transfer": True, "is_lora_enabled": True}, **A2),
    ),
    case(
        Code.UNSUPPORTED_310P,
        "from 0.23 it is switched off by itself",
        backend({"is_npugraph_ex": True}),
    ),
    case(
        Code.UNSUPPORTED_310P,
        "distilled into plain attention",
        backend({"model": "/models/DeepSeek-R1-Distill-Qwen-7B", "served_names": ("r1",)}),
    ),
    case(Code.UNSUPPORTED_310P, "one stage", backend({"pipeline_parallel": 1})),
    case(Code.NOT_LISTED_310P, "0.23.0rc1", backend(version=(0, 23, 0))),
    case(Code.NOT_LISTED_310P, "Qwen3", backend(PLAIN, **OLD)),
    case(Code.NOT_LISTED_310P, "another chip", backend(**OLD | A2)),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []


def test_each_thing_that_is_not_supported_is_told() -> None:
    one = backend({"has_kv_transfer": True, "is_lora_enabled": True, "pipeline_parallel": 2})
    asked = [found.values["asked"] for found in found_in(case(Code.UNSUPPORTED_310P, "", one))]
    assert asked == ["--kv-transfer-config", "--enable-lora", "--pipeline-parallel-size 2"]
