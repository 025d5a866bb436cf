"""The closed sets of words in a routing file."""

from enum import StrEnum


class Modality(StrEnum):
    """What a prompt may hold beside text."""

    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"


class PlacementRule(StrEnum):
    """How requests of a model are spread over its backends."""

    LEAST_COST = "least_cost"
    """Where it costs least time, its own and that of the others; waits for a better place."""
    ROUND_ROBIN = "round_robin"
    LEAST_INFLIGHT = "least_inflight"
    LEAST_KV = "least_kv"
    PREFIX = "prefix"
    WEIGHTED = "weighted"


class Order(StrEnum):
    """How the line of a model is ordered."""

    FAIR = "fair"
    """Shortest first, with ageing; whose key had more than others lately stands back."""
    SHORTEST = "shortest"
    """Shortest first, with ageing."""
    FCFS = "fcfs"
    """First come, first served."""


class Tier(StrEnum):
    """How an engine runs its decode steps: captured graphs, or one kernel after the other."""

    GRAPH = "graph"
    EAGER = "eager"


class Chip(StrEnum):
    """The family of Ascend chip, which sets limits such as the number of captured graphs."""

    A310P = "310P"
    A2 = "A2"
    A3 = "A3"


class Resume(StrEnum):
    """How a stream that broke is continued on another backend."""

    OFF = "off"
    TEXT = "text"
    EXACT = "exact"


class OnFirstByteLimit(StrEnum):
    """What happens when an answer has not begun within first_byte_s."""

    GIVE_UP = "give_up"
    MOVE = "move"


class EndpointName(StrEnum):
    """An endpoint of the gateway, as the routing file names it."""

    CHAT = "chat"
    COMPLETIONS = "completions"
    EMBEDDINGS = "embeddings"
    RESPONSES = "responses"
    MESSAGES = "messages"
    COUNT_TOKENS = "count_tokens"
    RERANK = "rerank"
    SCORE = "score"
    CLASSIFY = "classify"
    POOLING = "pooling"
    TOKENIZE = "tokenize"
    DETOKENIZE = "detokenize"
    TRANSCRIPTIONS = "transcriptions"
    TRANSLATIONS = "translations"
