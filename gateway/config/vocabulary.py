"""The closed sets of words in a routing file."""

from enum import StrEnum


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
