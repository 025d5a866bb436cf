"""What a request demands, of numbers of any size."""

from typing import Any

import pytest

from gateway.protocol.demand import choices_asked


@pytest.mark.parametrize(
    ("payload", "choices"),
    [
        ({}, 1),
        ({"n": 3}, 3),
        ({"n": 0}, 1),
        ({"n": True}, 1),
        ({"n": 10**400}, 65536),
        ({"n": 2, "prompt": ["a", "b"]}, 4),
    ],
)
def test_choices_are_bounded(payload: dict[str, Any], choices: int) -> None:
    assert choices_asked(payload) == choices
