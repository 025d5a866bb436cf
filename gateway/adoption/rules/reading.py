"""What several rules want to know of a backend: chip, version, kind of model, graphs, sizes."""

import re
from collections.abc import Iterable
from typing import Final

from gateway.adoption.candidate import Candidate
from gateway.adoption.engine.arguments import EngineArguments
from gateway.config.capture import DEFAULT_MAX_NUM_SEQS
from gateway.config.containers import read_model_name, short_name
from gateway.config.vocabulary import Chip, Tier

FULL_DECODE_ONLY: Final = "FULL_DECODE_ONLY"
NO_GRAPHS: Final = "NONE"

_COMPILES: Final = "VLLM_COMPILE"
_HYBRID: Final = re.compile(r"qwen[-_ ]?3\.(?:5|6|8)(?!\d)|qwen[-_ ]?3[-_ ]?next")
_POOLING_TASKS: Final = frozenset(("embed", "embedding", "classify", "score", "reward", "pooling"))
_ON: Final = frozenset(("1", "true", "yes", "on"))


def is_310p(candidate: Candidate) -> bool:
    """Whether it runs on Atlas 300I Duo or another 310P."""
    return candidate.chip is Chip.A310P


def is_before(candidate: Candidate, *release: int) -> bool:
    """Whether its version is known and older; an rc counts as its release."""
    return candidate.version is not None and candidate.version < release


def version_text(candidate: Candidate) -> str:
    """Its version as it was written, or in numbers; `?` where it is not known."""
    if candidate.version_text:
        return candidate.version_text
    return ".".join(map(str, candidate.version)) if candidate.version else "?"


def model_words(candidate: Candidate) -> str:
    """What its model is called, in lower case: the path's last part, if that names a family.

    Else served names are taken, too; they can be anything, so they never overrule the path.
    """
    path = short_name(candidate.model_path or "")
    if read_model_name(path).families:
        return path
    return " ".join((path, *(short_name(name) for name in candidate.served_names)))


def is_hybrid(candidate: Candidate) -> bool:
    """Whether its model mixes GDN and attention layers: Qwen3-Next, Qwen3.5, 3.6, 3.8.

    From vllm-ascend patch/platform/patch_mamba_config.py and the model pages of its documentation.
    """
    return _HYBRID.search(model_words(candidate)) is not None


def is_generating(candidate: Candidate) -> bool:
    """Whether it writes text; embedding and ranking models decode nothing."""
    arguments = candidate.arguments
    if arguments is None:
        return True
    return arguments.runner != "pooling" and arguments.task not in _POOLING_TASKS


def runs_graphs(candidate: Candidate) -> bool:
    """Whether decode steps are to replay graphs, as far as anything says."""
    if candidate.is_eager or candidate.tier is Tier.EAGER or not is_generating(candidate):
        return False
    return candidate.graph_mode != NO_GRAPHS


def promises_graphs(candidate: Candidate) -> bool:
    """Whether the command alone lets graphs be captured."""
    arguments = candidate.arguments
    if arguments is None or not is_generating(candidate) or eager_option(arguments):
        return False
    return arguments.cudagraph_mode != NO_GRAPHS


def eager_option(arguments: EngineArguments) -> str:
    """What makes a command eager whatever else it says of graphs; "" for nothing.

    --enforce-eager wins over everything, and only one mode of compilation is supported
    (vllm-ascend platform.py).
    """
    if arguments.is_enforce_eager:
        return "--enforce-eager"
    if arguments.optimization_level == 0:
        return "-O0"
    mode = arguments.compilation_mode
    return "" if mode in (None, _COMPILES) else f'"mode": "{mode}"'


def tensor_parallel_of(candidate: Candidate) -> int | None:
    """NPUs that one step runs on; the engine's default is 1, None without any command or log."""
    if candidate.tensor_parallel is not None:
        return candidate.tensor_parallel
    return 1 if candidate.arguments is not None else None


def seqs_of(candidate: Candidate) -> int | None:
    """Requests that run at once; the engine's default where a command does not say it."""
    if candidate.max_num_seqs is not None:
        return candidate.max_num_seqs
    return DEFAULT_MAX_NUM_SEQS if candidate.arguments is not None else None


def tokens_per_request(candidate: Candidate) -> int | None:
    """Tokens of one request in a decode step: 1, and those speculated; None if not told."""
    arguments = candidate.arguments
    if arguments is None or not arguments.has_speculation:
        return 1
    if arguments.speculative_tokens is None:
        return None
    return 1 + arguments.speculative_tokens


def container_name(candidate: Candidate) -> str:
    """The container that it runs in; "" for none."""
    if candidate.container is not None:
        return candidate.container.name
    return candidate.launch.container_name if candidate.launch else ""


def is_in_host_network(candidate: Candidate) -> bool:
    """Whether its ports are those of the machine: no container, or one with the host's network."""
    if candidate.container is None:
        return container_name(candidate) == ""
    return candidate.container.is_host_network


def is_set(candidate: Candidate, variable: str) -> bool:
    """Whether an environment variable switches something on."""
    return candidate.environment.get(variable, "").strip().lower() in _ON


def listed(numbers: Iterable[int]) -> str:
    """Numbers as they are typed in JSON: [1, 4]."""
    return f"[{', '.join(map(str, numbers))}]"


def joined(words: Iterable[object]) -> str:
    """Words after each other with commas; a hyphen for none."""
    return ", ".join(map(str, words)) or "-"
