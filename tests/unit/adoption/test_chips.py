"""Chip, version and NPUs of a backend, as far as sources tell them."""

from typing import Any

import pytest

from gateway.adoption.chips import chip_of, npus_of, release_in, tag_of
from gateway.config.vocabulary import Chip
from tests.unit.adoption.started import box, start

IMAGE = "quay.io/ascend/vllm-ascend"


@pytest.mark.parametrize(
    ("image", "resource", "model", "chip", "is_guess"),
    [
        (f"{IMAGE}:v0.20.2rc1-310p-openeuler", "", None, Chip.A310P, False),
        (f"{IMAGE}:v0.20.2-a3", "", None, Chip.A3, False),
        (f"{IMAGE}:v0.20.2rc1", "", None, Chip.A2, True),
        (f"{IMAGE}:v0.20.2rc1-openeuler", "", None, Chip.A2, True),
        (f"{IMAGE}:v0.30.0-a5", "", None, None, False),
        (f"{IMAGE}:main", "", None, None, False),
        (f"{IMAGE}@sha256:310", "", None, None, False),
        ("registry:5000/my/llm:v1", "", None, None, False),
        ("", "Ascend310P", None, Chip.A310P, False),
        ("", "Ascend910", None, Chip.A2, True),
        (f"{IMAGE}:v0.20.2-a3", "Ascend910", None, Chip.A3, False),
        ("", "", "/m/Qwen3-8B-w8a8sc-310-vllm/TP2", Chip.A310P, False),
        ("", "", "/m/Qwen3-1310B", None, False),
    ],
)
def test_a_chip(
    image: str, resource: str, model: str | None, chip: Chip | None, is_guess: bool
) -> None:
    found = chip_of(box(image=image, chip=resource), model)
    assert (found.chip, found.guess is not None) == (chip, is_guess)
    assert bool(found.reason) == (chip is not None)


def test_without_container_only_weights_tell() -> None:
    assert chip_of(None, "/m/a").chip is None
    assert chip_of(None, "/m/a-310p").chip is Chip.A310P


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("v0.20.2rc1-310p", (0, 20, 2)),
        ("0.20.2+empty", (0, 20, 2)),
        ("v0.21", (0, 21, 0)),
        ("0.1.dev17+g12ab", None),
        ("main", None),
        ("", None),
    ],
)
def test_a_release(text: str, release: tuple[int, ...] | None) -> None:
    assert release_in(text) == release


def test_the_tag_of_an_image_behind_a_port() -> None:
    assert tag_of("host:5000/a/b:v1@sha256:12") == "v1"
    assert tag_of("host:5000/a/b") == ""


@pytest.mark.parametrize(
    ("line", "visible", "fields", "npus"),
    [
        ("m -tp 2", "2,3", None, (2, 3)),
        ("m -tp 2", "0, 1", None, (0, 1)),
        ("m -tp 2", "2,3", {"npus": (0, 1)}, (2, 3)),  # a rule tells that they are not there
        ("m -tp 2", None, {"npus": (4, 5)}, (4, 5)),
        ("m -tp 2", None, {"npus": (7, 4, 5, 6)}, (4, 5)),
        ("m", None, {"npus": (4, 5)}, (4,)),
        ("m -tp 2 -dp 2", None, {"npus": (0, 1, 2, 3)}, (0, 1, 2, 3)),
        ("m -tp 2", None, {"npus": None}, ()),
        ("m -tp 2", "0,1", {"npus_wanted": 2}, ()),
        ("m -tp 2", None, None, ()),
    ],
)
def test_npus(
    line: str, visible: str | None, fields: dict[str, Any] | None, npus: tuple[int, ...]
) -> None:
    environment = {} if visible is None else {"ASCEND_RT_VISIBLE_DEVICES": visible}
    container = None if fields is None else box(**fields)
    assert npus_of(start(line, container, environment=environment)) == npus
