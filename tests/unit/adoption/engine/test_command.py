import pytest

from gateway.adoption.engine.arguments import is_engine_command
from gateway.adoption.engine.command import Entry, find_entry


@pytest.mark.parametrize(
    ("argv", "entry"),
    [
        ("vllm serve /m --port 1", Entry(("/m", "--port", "1"))),
        ("/usr/local/python3.11.13/bin/vllm serve /m", Entry(("/m",))),
        ("python3 /usr/local/bin/vllm serve /m", Entry(("/m",))),
        ("python -m vllm.entrypoints.cli.main serve /m", Entry(("/m",))),
        ("python -m vllm serve /m", Entry(("/m",))),
        ("python3.11 -u -m vllm.scripts serve /m", Entry(("/m",))),
        (
            "python3 -m vllm.entrypoints.openai.api_server --model /m",
            Entry(("--model", "/m"), True),
        ),
        ("python -mvllm.entrypoints.openai.api_server --model /m", Entry(("--model", "/m"), True)),
        (
            "/opt/bin/python3 -X dev -W ignore -m vllm.entrypoints.openai.api_server",
            Entry((), True),
        ),
        ("python /vllm-workspace/vllm/vllm/entrypoints/openai/api_server.py", Entry((), True)),
        ("python api_server.py --port 1", Entry(("--port", "1"), True)),
        ("./api_server.py --port 1", Entry(("--port", "1"), True)),
    ],
)
def test_the_entry_points_of_an_engine(argv: str, entry: Entry) -> None:
    assert find_entry(argv.split()) == entry
    assert is_engine_command(tuple(argv.split()))


@pytest.mark.parametrize(
    "argv",
    [
        "",
        "vllm",
        "vllm bench serve --model m",
        "vllm chat",
        "vllm serve --help",
        "vllm serve --help=all",
        "vllm serve -h",
        "bash -c vllm",
        "python",
        "python -m",
        "python -m vllm.entrypoints.api_server",  # the demonstration, without OpenAI's protocol
        "python vllm/entrypoints/api_server.py",
        "python -m sglang.launch_server --model-path /m",
        "python -c vllm serve",
        "python -X",
        "ray start --head",
        "vllm-ascend serve m",
        "pip install vllm serve",
    ],
)
def test_other_commands(argv: str) -> None:
    assert find_entry(argv.split()) is None
    assert not is_engine_command(tuple(argv.split()))
