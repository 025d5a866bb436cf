"""What a client may send as `model`, and what it is told when that is wrong."""

import pytest

from gateway.config.load import load_text
from gateway.errors import Outcome, Refusal
from gateway.fleet.names import NameTable

FILE = """
version: 1
backends:
  - {name: 9b-graph, url: "http://h:12322", served_name: qwen3.5-9b, root: /models/Qwen3.5-9B,
     container: vllm-ascend-qwen3.5, labels: {site: north}}
  - {name: 27b-graph, url: "http://h:12320", served_name: /data/qwen3.5-27B-w8a8, tier: eager}
  - {name: spare, url: "http://h:12399", served_name: spare, enabled: false}
models:
  - {name: qwen3.5-9b, aliases: [gpt-4o-mini], backends: [9b-graph, spare]}
  - {name: qwen3.5-27b, backends: [{backend: 27b-graph, served_name: lora-v1}]}
  - {name: Case, selector: {site: north}}
  - {name: case, selector: {tier: eager}}
  - {name: "off", backends: [9b-graph], enabled: false}
default_model: qwen3.5-9b
"""


def table() -> NameTable:
    loaded = load_text(FILE, "test.yaml")
    assert loaded.config is not None, loaded.render()
    return NameTable(loaded.config)


def everything(model: str) -> bool:
    return bool(model)


@pytest.mark.parametrize(
    ("asked", "model"),
    [
        ("qwen3.5-9b", "qwen3.5-9b"),
        ("gpt-4o-mini", "qwen3.5-9b"),
        ("qwen3.5-27b", "qwen3.5-27b"),
        ("Case", "Case"),
        ("case", "case"),
    ],
)
def test_a_name_or_alias_is_one_model(asked: str, model: str) -> None:
    assert table().resolve(asked, everything).name == model


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("vllm-ascend-qwen3.5", "is the container of backend '9b-graph'; ask for 'qwen3.5-9b'"),
        ("/models/Qwen3.5-9B", "is the model path of backend '9b-graph'; ask for 'qwen3.5-9b'"),
        ("/models/Qwen3.5-9B/", "is the model path of backend '9b-graph'"),
        ("Qwen3.5-9B", "the last part of the model path of '9b-graph'; ask for 'qwen3.5-9b'"),
        ("lora-v1", "the name that backend '27b-graph' itself uses; ask for 'qwen3.5-27b'"),
        ("9b-graph", "is the name of a backend; ask for 'qwen3.5-9b'"),
        ("QWEN3.5-27B", "differs from 'qwen3.5-27b' only in letter case"),
        (" qwen3.5-27b\n", "differs from 'qwen3.5-27b' only in white space"),
        ("Qwen3.5 -27B", "only in letter case and white space"),
        ("qwen3.5-28b", "Did you mean 'qwen3.5-27b'"),
        ("off", "Usable names: 'qwen3.5-9b'"),
        ("nothing like it", "does not exist here"),
        ("x" * 100_000, "…"),
    ],
)
def test_an_unknown_name_is_explained(asked: str, told: str) -> None:
    with pytest.raises(Refusal) as caught:
        table().resolve(asked, everything)
    refusal = caught.value
    assert (refusal.outcome, refusal.param) == (Outcome.MODEL_NOT_FOUND, "model")
    assert told in refusal.message
    assert "Usable names: " in refusal.message
    assert len(refusal.message) < 1000


def test_names_that_are_not_permitted_are_unknown_and_not_listed() -> None:
    with pytest.raises(Refusal) as caught:
        table().resolve("qwen3.5-27b", lambda model: model == "qwen3.5-9b")
    assert caught.value.outcome is Outcome.MODEL_NOT_FOUND
    assert "27b" not in caught.value.message.partition("Usable names")[2]


def test_the_list_of_names_is_bounded() -> None:
    models = "\n".join(f"  - {{name: m{i}, backends: [b]}}" for i in range(100))
    backends = "  - {name: b, url: 'http://h:1', served_name: s}"
    text = f"version: 1\nbackends:\n{backends}\nmodels:\n{models}\n"
    loaded = load_text(text, "test.yaml")
    assert loaded.config is not None
    with pytest.raises(Refusal, match="and 80 more"):
        NameTable(loaded.config).resolve("zzz", everything)


def test_members_follow_the_file_and_leave_disabled_ones_out() -> None:
    names = table()
    by_model = {
        name: [(m.backend.name, m.served_name) for m in model.members]
        for name, model in names.models.items()
    }
    assert by_model == {
        "qwen3.5-9b": [("9b-graph", "qwen3.5-9b")],
        "qwen3.5-27b": [("27b-graph", "lora-v1")],
        "Case": [("9b-graph", "qwen3.5-9b")],
        "case": [("27b-graph", "/data/qwen3.5-27B-w8a8")],
    }


def test_the_default_model_and_the_lack_of_one() -> None:
    assert table().require_default().name == "qwen3.5-9b"
    loaded = load_text(FILE.replace("default_model: qwen3.5-9b", ""), "test.yaml")
    assert loaded.config is not None
    with pytest.raises(Refusal) as caught:
        NameTable(loaded.config).require_default()
    assert (caught.value.outcome, caught.value.param) == (Outcome.MODEL_REQUIRED, "model")
