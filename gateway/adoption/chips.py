"""On which chip, which NPUs and with which version a backend runs."""

import re
from collections.abc import Iterable
from posixpath import basename
from typing import Final, NamedTuple

from gateway.adoption.candidate import Guess
from gateway.adoption.codes import Code
from gateway.adoption.engine.arguments import EngineArguments
from gateway.adoption.saying import Saying
from gateway.adoption.sources import Container
from gateway.adoption.starts import Start
from gateway.config.vocabulary import Chip

_OF_310P: Final = re.compile(r"(?<![a-z0-9])(?:ascend)?310p?(?![a-z0-9])", re.IGNORECASE)
_OF_A3: Final = re.compile(r"(?<![a-z0-9])a3(?![a-z0-9])", re.IGNORECASE)
_OF_A2: Final = re.compile(r"(?<![a-z0-9])(?:a2|910b)(?![a-z0-9])", re.IGNORECASE)
_OTHER_CHIP: Final = re.compile(r"(?<![a-z0-9])a\d(?![a-z0-9])", re.IGNORECASE)
_RELEASE: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")


class ChipFound(NamedTuple):
    """The chip, what tells it, and the guess where that is no more than a sign."""

    chip: Chip | None = None
    reason: str = ""
    guess: Guess | None = None


def chips_said(container: Container | None, model: str | None) -> tuple[Saying[Chip], ...]:
    """What names the chip, the surest first: a cluster's resource, the image's tag, the weights.

    Images of vllm-ascend for 310P and A3 end in -310p and -a3 (docs.vllm.ai/projects/ascend,
    installation); quantised weights are made for a chip and often named after it.
    """
    found: list[Saying[Chip]] = []
    if container is not None:
        texts = (container.chip, tag_of(container.image))
        for text in texts:
            chip = _named(text)
            if chip is not None:
                place = "huawei.com/" if text == container.chip else "image "
                found.append(Saying(chip, f"{place}{text} ({container.origin})"))
    if model is not None and _OF_310P.search(model):
        found.append(Saying(Chip.A310P, model))
    return tuple(found)


def chip_of(container: Container | None, model: str | None) -> ChipFound:
    """The chip that a source names; a plain image of vllm-ascend is one for A2, as a guess."""
    said = chips_said(container, model)
    if said:
        return ChipFound(said[0].value, said[0].place)
    if container is None:
        return ChipFound()
    image, resource = container.image, container.chip
    is_plain = "vllm-ascend" in image and _RELEASE.match(tag_of(image)) is not None
    if _OTHER_CHIP.search(tag_of(image)) or not (is_plain or resource.startswith("Ascend910")):
        return ChipFound()
    reason = image if is_plain else f"huawei.com/{resource}"
    values = {"chip": Chip.A2.value, "reason": reason}
    return ChipFound(Chip.A2, reason, Guess("chip", Chip.A2.value, Code.CHIP_ASSUMED, values))


def _named(text: str) -> Chip | None:
    if _OF_310P.search(text):
        return Chip.A310P
    if _OF_A3.search(text):
        return Chip.A3
    return Chip.A2 if _OF_A2.search(text) else None


def tag_of(image: str) -> str:
    """The tag of an image's name, without a digest; "" for none."""
    return basename(image.partition("@")[0]).partition(":")[2]


def release_in(text: str) -> tuple[int, ...] | None:
    """A version in three numbers; None for a build between releases, which is numbered 0.1.dev."""
    match = _RELEASE.match(text)
    if match is None or ".dev" in text:
        return None
    return tuple(int(number) for number in match.groups(default="0"))


def version_of(texts: Iterable[str | None]) -> tuple[tuple[int, ...] | None, str]:
    """The first version that can be read, and as it was written."""
    for text in texts:
        release = release_in(text or "")
        if release is not None:
            return release, text or ""
    return None, ""


def npus_of(start: Start) -> tuple[int, ...]:
    """The NPUs of the machine that an engine uses; () where that is not known.

    With --device the numbers inside a container are those of the host. Of those that are mounted
    an engine without ASCEND_RT_VISIBLE_DEVICES takes as many as it has ranks, from the first on.
    A scheduler that chooses the NPUs of a pod tells no source which.
    """
    container = start.container
    if container is not None and container.npus_wanted:
        return ()
    if start.visible_npus is not None:
        return start.visible_npus
    mounted = (container.npus if container else None) or ()
    return tuple(sorted(mounted))[: _ranks(start.arguments)]


def _ranks(arguments: EngineArguments) -> int:
    replicas = arguments.data_parallel_local or arguments.data_parallel or 1
    if arguments.is_data_parallel_external:
        replicas = 1
    width = (arguments.tensor_parallel or 1) * (arguments.pipeline_parallel or 1)
    return width * (arguments.prefill_context_parallel or 1) * replicas
