"""The traps that are known to be in the sample scripts are found in them, file by file."""

from pathlib import Path
from typing import Final

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.merging import merge
from gateway.adoption.reading import read_source
from gateway.adoption.rules import traps_of
from gateway.adoption.sources import Sighting

SAMPLES: Final = Path(__file__).resolve().parents[3] / "golden" / "adoption" / "samples"


def codes_in(*names: str) -> set[str]:
    """The traps in some of the samples; after CHIP_UNTOLD, those that it counts up as well."""
    sighting = Sighting()
    for name in names:
        sighting += read_source((SAMPLES / name).read_text(encoding="utf-8"), name)
    codes: set[str] = set()
    for finding in traps_of(merge(sighting)):
        codes.add(finding.code)
        if finding.code is Code.CHIP_UNTOLD:
            codes |= set(finding.values["codes"].split(", "))
    return codes


TRAPS: Final = (
    # the container of the 9B
    (("docker_9b.sh",), Code.NPU_NOT_MOUNTED),
    (("docker_9b.sh",), Code.NOT_THE_MAIN_PROCESS),
    (("docker_9b.sh",), Code.CONTAINER_WITHOUT_SIZE),
    # its server
    (("serve_9b.sh",), Code.SEQS_ABOVE_CAPTURE),
    (("serve_9b.sh",), Code.AIV_310P),
    (("serve_9b.sh",), Code.LOCAL_MEDIA_OPEN),
    (("serve_9b.sh",), Code.NO_API_KEY),
    (("docker_9b.sh", "serve_9b.sh"), Code.PORT_DIFFERS),
    (("docker_9b.sh", "serve_9b.sh"), Code.AIV_310P),
    (("docker_9b.sh", "serve_9b.sh"), Code.MODEL_NOT_MOUNTED),
    (("docker_9b.sh", "serve_9b.sh"), Code.MASK_MEMORY_310P),
    (("docker_9b.sh", "serve_9b.sh"), Code.NOT_LISTED_310P),
    # the 27B
    (("docker_27b.sh", "serve_27b.sh"), Code.CONTAINER_MISLEADS),
    (("docker_27b.sh", "serve_27b.sh"), Code.FUSE_NORM_QUANT_310P),
    (("docker_27b.sh", "serve_27b.sh"), Code.LOG_LOST),
    (("docker_27b.sh", "serve_27b.sh"), Code.MAMBA_MODE_UNSET),
    (("docker_27b.sh", "docker_9b.sh"), Code.NPU_MOUNTED_TWICE),
    # sharded weights
    (("serve_8b_sharded.sh",), Code.CAPTURE_TOO_MANY),
    (("serve_8b_sharded.sh",), Code.SEQS_ABOVE_CAPTURE),
    (("serve_8b_sharded.sh",), Code.LONG_CONTEXT_ALLOWED),
    # the community's command
    (("serve_2b.sh",), Code.LOOPBACK_ONLY),
    (("serve_2b.sh",), Code.SEQS_NOT_GIVEN),
    # the eager twin
    (("serve_eager.sh",), Code.EAGER_BESIDE_GRAPH),
    (("serve_eager.sh",), Code.OLD_ENTRY_POINT),
    (("serve_eager.sh",), Code.NPU_LIST_CUT),
    (("serve_eager.sh",), Code.SPECULATION_310P),
    # two services
    (("compose.yaml",), Code.NPU_SHARED),
    (("compose.yaml",), Code.ADDRESS_TWICE),
    (("compose.yaml",), Code.SEQS_OFF_GRID),
    (("compose.yaml",), Code.GRAPH_MODE_310P),
    # logs
    (("graph_start.log",), Code.CAPTURE_TRUNCATED),
    (("eager_start.log",), Code.EAGER_UNEXPLAINED),
    (("serve_eager.sh", "eager_start.log"), Code.KV_BELOW_BATCH),
    (("docker_9b.sh", "serve_9b.sh", "graph_start.log"), Code.PREFIX_HITS_ZERO),
    # names, as soon as another server is called like the container
    (("docker_9b.sh", "serve_9b.sh", "serve_2b.sh"), Code.CONTAINER_MISLEADS),
)

FIT: Final = (
    # what is right in these files, beside a file with the trap
    (("docker_27b.sh", "serve_27b.sh"), Code.NPU_NOT_MOUNTED),
    (("docker_27b.sh", "serve_27b.sh"), Code.CONTAINER_WITHOUT_SIZE),
    (("docker_27b.sh", "serve_27b.sh"), Code.PORT_DIFFERS),
    (("docker_9b.sh", "serve_9b.sh"), Code.FUSE_NORM_QUANT_310P),
    (("docker_9b.sh", "serve_9b.sh"), Code.CONTAINER_MISLEADS),
    (("docker_9b.sh", "serve_9b.sh"), Code.LOG_LOST),
    (("docker_9b.sh", "serve_9b.sh"), Code.MEMORY_OVERCOMMITTED_310P),
    (("docker_9b.sh", "serve_9b.sh", "graph_start.log"), Code.CAPTURE_TRUNCATED),
    (("serve_8b_sharded.sh",), Code.SHARDED_FORMAT_MISSING),
    (("serve_8b_sharded.sh",), Code.SHARDED_OTHER_WIDTH),
    (("serve_8b_sharded.sh",), Code.LONG_CONTEXT_REFUSED),
    (("serve_2b.sh",), Code.NO_API_KEY),
    (("serve_2b.sh",), Code.CAPTURE_TOO_MANY),
    (("serve_eager.sh",), Code.SEQS_ABOVE_CAPTURE),
    (("serve_eager.sh", "eager_start.log"), Code.EAGER_THOUGH_GRAPH),
    (("compose.yaml",), Code.NOT_THE_MAIN_PROCESS),
    (("compose.yaml",), Code.FUSE_NORM_QUANT_310P),
)


@pytest.mark.parametrize(("names", "code"), TRAPS)
def test_a_trap_is_found(names: tuple[str, ...], code: Code) -> None:
    assert code in codes_in(*names)


@pytest.mark.parametrize(("names", "code"), FIT)
def test_what_is_right_is_not_told(names: tuple[str, ...], code: Code) -> None:
    assert code not in codes_in(*names)


def test_an_eager_log_contradicts_the_command_that_writes_it() -> None:
    script = (SAMPLES / "serve_9b.sh").read_text(encoding="utf-8")
    log = (SAMPLES / "eager_start.log").read_text(encoding="utf-8").replace("32768", "53248")
    fleet = merge(read_source(script, "serve_9b.sh") + read_source(log, "vllm-9b.log"))
    told = [f for f in traps_of(fleet) if f.code is Code.EAGER_THOUGH_GRAPH]
    assert [(f.backend, str(f.origin)) for f in told] == [("qwen3.5-9b", "vllm-9b.log:1")]
