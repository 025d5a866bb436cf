"""Addresses with ranges of ports, and what is no address."""

import pytest

from gateway.cli.adopt_targets import Target, targets_in

GOOD = [
    ("http://h:8000", ["http://h:8000"]),
    ("h:8000", ["http://h:8000"]),
    ("h", ["http://h"]),
    ("https://h/prefix", ["https://h/prefix"]),
    ("http://h:12320-12322", ["http://h:12320", "http://h:12321", "http://h:12322"]),
    ("http://h:1,3,1", ["http://h:1", "http://h:3"]),
    ("http://h:1-2,9/v1", ["http://h:1/v1", "http://h:2/v1", "http://h:9/v1"]),
    ("http://[::1]:1-2", ["http://[::1]:1", "http://[::1]:2"]),
]
BAD = ["", "http://h:", "http://h:0", "http://h:9-1", "http://h:1-70000", "http://h:1-5000", "a b"]


@pytest.mark.parametrize(("address", "urls"), GOOD)
def test_each_port_is_a_target(address: str, urls: list[str]) -> None:
    found = targets_in(address)
    assert [target.url for target in found] == urls
    assert {target.is_one_of_many for target in found} == {len(urls) > 1}


@pytest.mark.parametrize("address", BAD)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError):
        targets_in(address)


def test_a_single_address_is_missed_when_nobody_answers() -> None:
    assert targets_in("http://h:1-1") == (Target("http://h:1", is_one_of_many=False),)
