import pytest

from gateway.adoption.containers.assumed_entry import with_entry
from gateway.adoption.findings import Origin
from gateway.adoption.sources import Container


@pytest.mark.parametrize(
    ("image", "argv", "entry"),
    [
        ("vllm/vllm-openai:v1", "--model /m --port 8000", "vllm serve --model /m --port 8000"),
        ("mine:1", "--model=/m -tp 2", "vllm serve --model=/m -tp 2"),
        (
            "vllm/vllm-openai",
            "Qwen/Qwen3-8B --max-model-len 4096",
            "vllm serve Qwen/Qwen3-8B --max-model-len 4096",
        ),
        ("vllm-ascend", "/models/x --max_num_seqs 8", "vllm serve /models/x --max_num_seqs 8"),
        ("my-vllm", "serve /m", "vllm serve /m"),
        ("mine", "serve /m -tp 2", "vllm serve /m -tp 2"),
        ("mine", "serve /m", ""),
        ("mine", "/models/x --max-num-seqs 8", ""),
        ("vllm", "vllm serve /m --port 1", ""),
        ("vllm", "/usr/bin/start --model /m", ""),
        ("vllm", "/scripts/start.sh --model /m", ""),
        ("vllm", "python3 -m other --model /m", ""),
        ("vllm", "bash", ""),
        ("redis", "--port 1", ""),
        ("vllm", "", ""),
    ],
)
def test_what_an_image_starts_by_itself(image: str, argv: str, entry: str) -> None:
    container = Container(Origin("f"), "n", image, argv=tuple(argv.split()))
    assert with_entry(container) == tuple(entry.split())
