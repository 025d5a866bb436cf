import pytest

from gateway.adoption.codes import Code
from gateway.adoption.engine.config_file import read_config_file
from tests.unit.adoption.engine.conftest import Read


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("port: 12323\ntensor-parallel-size: 4\n", "--port 12323 --tensor-parallel-size 4"),
        ("model: /m\nmax_num_seqs: 8", "--model /m --max_num_seqs 8"),
        ("served-model-name: [a, b]\nmiddleware: []", "--served-model-name a b"),
        ("enforce-eager: true\nenable-lora: false", "--enforce-eager"),
        (
            "compilation-config: {cudagraph_mode: FULL}",
            '--compilation-config {"cudagraph_mode": "FULL"}',
        ),
        (
            "gpu-memory-utilization: 0.9\nquantization:",
            "--gpu-memory-utilization 0.9 --quantization None",
        ),
    ],
)
def test_a_file_gives_words(text: str, words: str) -> None:
    given, findings = read_config_file(text, "c.yaml")
    assert (" ".join(given), findings) == (words, ())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("- a\n- b", 1),
        ("port: 1\n\tx: [", 2),
        ("a: &a {b: *a}", 1),
        ("x: 1\n" * 300_000, 1),
    ],
)
def test_a_file_that_can_not_be_read(text: str, line: int) -> None:
    given, findings = read_config_file(text, "c.yaml")
    assert given == ()
    assert [finding.code for finding in findings] == [Code.CONFIG_UNREADABLE]
    assert findings[0].origin.file == "c.yaml"
    assert findings[0].origin.line == line


def test_what_a_file_says_is_read_like_a_command_line(read: Read) -> None:
    words, _ = read_config_file(
        "max-num-seqs: 8\ncompilation-config:\n  cudagraph_capture_sizes: [1, 4]\n", "c.yaml"
    )
    arguments, findings = read("vllm serve /m --config c.yaml", *words)
    assert findings == ()
    assert (arguments.max_num_seqs, arguments.capture_sizes) == (8, (1, 4))
