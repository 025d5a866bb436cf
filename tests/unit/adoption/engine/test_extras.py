from typing import Any

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.engine.arguments import EngineArguments
from tests.unit.adoption.engine.conftest import Read


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("""--speculative-config '{"method": "mtp", "num_speculative_tokens": 3}'""",
         {"has_speculation": True, "speculative_tokens": 3, "speculative_method": "mtp"}),
        ("-sc.method ngram -sc.num_speculative_tokens 2",
         {"has_speculation": True, "speculative_tokens": 2, "speculative_method": "ngram"}),
        ("--spec-method mtp --spec-tokens 1",
         {"has_speculation": True, "speculative_tokens": 1, "speculative_method": "mtp"}),
        ("--spec-model /d", {"has_speculation": True}),
        ("--speculative-config '{}'", {"has_speculation": True}),
        ("--speculative-config ''", {}),
        ("""--kv-transfer-config '{"kv_connector": "MooncakeConnectorV1", "kv_role": "kv_both"}'""",
         {"has_kv_transfer": True, "kv_role": "kv_both", "kv_connector": "MooncakeConnectorV1"}),
        ("--kv-transfer-config.kv_role=kv_producer",
         {"has_kv_transfer": True, "kv_role": "kv_producer"}),
        ("""--ec-transfer-config '{"ec_role": "ec_producer"}'""", {"ec_role": "ec_producer"}),
        ("""--additional-config '{"ascend_compilation_config": {"enable_npugraph_ex": false}}'""",
         {"additional": {"ascend_compilation_config": {"enable_npugraph_ex": False}},
          "is_npugraph_ex": False}),
        ("--additional-config.ascend_compilation_config.fuse_norm_quant false",
         {"additional": {"ascend_compilation_config": {"fuse_norm_quant": False}},
          "fuse_norm_quant": False}),
        ("""--additional-config '{"ascend_compilation_config": 3}'""",
         {"additional": {"ascend_compilation_config": 3}}),
        ("""--limit-mm-per-prompt '{"image": 4, "video": {"count": 0, "num_frames": 8}}'""",
         {"limit_mm_per_prompt": {"image": 4, "video": 0}}),
        ("""--limit-mm-per-prompt '{"video": {"num_frames": 8}}'""", {}),
        ("--limit-mm-per-prompt image=4,video=0",
         {"limit_mm_per_prompt": {"image": 4, "video": 0}}),
        ("--limit-mm-per-prompt.image 2", {"limit_mm_per_prompt": {"image": 2}}),
        ("""--enable-lora --lora-modules a=/a '{"name": "b", "path": "/b", "base": "m"}'""",
         {"is_lora_enabled": True, "lora_modules": (("a", "/a"), ("b", "/b"))}),
    ],
)  # fmt: skip
def test_spellings(read: Read, words: str, fields: dict[str, Any]) -> None:
    arguments, findings = read(f"vllm serve m {words}")
    assert findings == ()
    assert arguments == EngineArguments(model="m", **fields)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("--lora-modules a", "a"),
        ("--lora-modules a=", "a="),
        ("--lora-modules '[1]'", "[1]"),
        ('--lora-modules \'{"name": "a"}\'', '{"name": "a"}'),
        ("--limit-mm-per-prompt image=x", "image=x"),
        ("--limit-mm-per-prompt '{\"image\": -1}'", "image=-1"),
    ],
)
def test_values_without_meaning(read: Read, words: str, value: str) -> None:
    _, findings = read(f"vllm serve m {words}")
    assert [(finding.code, finding.values["value"]) for finding in findings] == [
        (Code.VALUE_UNREADABLE, value)
    ]


def test_speculation_that_can_not_be_read_is_speculation_all_the_same(read: Read) -> None:
    arguments, findings = read("vllm serve m --speculative-config mtp --speculative-model /d")
    assert arguments.has_speculation
    assert [finding.code for finding in findings] == [Code.OPTION_ENDED, Code.VALUE_UNREADABLE]
