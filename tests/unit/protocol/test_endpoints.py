"""The table of endpoints and the tidying of paths."""

import pytest

from gateway.config.vocabulary import EndpointName
from gateway.protocol.endpoints import BY_PATH, ENDPOINTS, nearest_path, tidy_path


def test_the_table_has_just_the_names_of_the_routing_file() -> None:
    assert {e.name for e in ENDPOINTS} == {name.value for name in EndpointName}
    assert len(BY_PATH) == sum(len(e.paths) for e in ENDPOINTS)


@pytest.mark.parametrize(
    ("path", "tidy"),
    [
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/v1/chat/completions/", "/v1/chat/completions"),
        ("//v1//chat///completions//", "/v1/chat/completions"),
        ("/", "/"),
        ("//", "/"),
        ("/v1/../sleep", "/v1/../sleep"),
        ("//sleep", "/sleep"),
    ],
)
def test_tidy_path(path: str, tidy: str) -> None:
    assert tidy_path(path) == tidy


@pytest.mark.parametrize(
    "path",
    ["/sleep", "/v1/../v1/chat/completions", "/invocations", "/metrics", "/v1/load_lora_adapter"],
)
def test_private_paths_are_no_endpoints(path: str) -> None:
    assert tidy_path(path) not in BY_PATH


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("/chat/completions", "/v1/chat/completions"),
        ("/openai/v1/chat/completions", None),
        ("/v1/tokenize", "/tokenize"),
        ("/embeddings", "/v1/embeddings"),
        ("/sleep", None),
    ],
)
def test_nearest_path(path: str, near: str | None) -> None:
    assert nearest_path(path) == near
