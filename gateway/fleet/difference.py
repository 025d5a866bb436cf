"""The kinds of difference between a server and its entry in the routing file."""

from dataclasses import dataclass
from enum import StrEnum

from gateway.words import Words


class Difference(StrEnum):
    """The stable name of a kind of difference."""

    UNREACHABLE = "unreachable"
    TLS_FAILED = "tls_failed"
    UNHEALTHY = "unhealthy"
    KEY_REFUSED = "key_refused"
    KEY_MISSING = "key_missing"
    """Its key is not to be had where it was asked from."""
    NOT_VLLM = "not_vllm"
    LIST_UNREADABLE = "list_unreadable"
    NAME_MISSING = "name_missing"
    OTHER_ROOT = "other_root"
    SHORTER_CONTEXT = "shorter_context"
    EAGER_INSTEAD_OF_GRAPH = "eager_instead_of_graph"
    PROBABLY_EAGER = "probably_eager"
    TIER_UNTOLD = "tier_untold"
    """Whether it uses the graphs that are promised could not be found out."""
    GRAPH_INSTEAD_OF_EAGER = "graph_instead_of_eager"
    OTHER_SIZES = "other_sizes"
    OTHER_MAX_NUM_SEQS = "other_max_num_seqs"
    OTHER_TENSOR_PARALLEL = "other_tensor_parallel"


class Weight(StrEnum):
    """How bad a difference is: requests fail, they are slow or some fail, or it is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Found:
    """One difference of one backend, in words, with what to do."""

    backend: str
    kind: Difference
    weight: Weight
    told: Words
    remedy: Words
