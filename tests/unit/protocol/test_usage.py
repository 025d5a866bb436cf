"""Token counts in each protocol's words."""

import pytest

from gateway.protocol.usage import Usage, read_usage


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (b"null", None),
        (b"[]", None),
        (b"{", None),
        (b"{}", Usage()),
        (b'{"prompt_tokens":1,"total_tokens":3,"completion_tokens":2}', Usage(1, 2)),
        (
            b'{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}}',
            Usage(1, 2, 1),
        ),
        (b'{"prompt_tokens":1,"prompt_tokens_details":null}', Usage(1)),
        (
            b'{"input_tokens":5,"output_tokens":0,"input_tokens_details":{"cached_tokens":4}}',
            Usage(5, 0, 4),
        ),
        (b'{"input_tokens":5,"output_tokens":6,"cache_read_input_tokens":3}', Usage(5, 6, 3)),
        (b'{"type":"duration","seconds":3}', Usage()),
        (b'{"prompt_tokens":-1,"completion_tokens":"2"}', Usage()),
        (b'{"prompt_tokens":true}', Usage()),
    ],
)
def test_read(raw: bytes, usage: Usage | None) -> None:
    assert read_usage(raw) == usage


def test_later_figures_win_where_they_are_given() -> None:
    assert Usage(1, 2, 3).merged_with(Usage(None, 5, None)) == Usage(1, 5, 3)
    assert Usage(1, 0).merged_with(Usage(0, None)) == Usage(0, 0)
