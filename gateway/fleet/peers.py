"""What other gateways have at one backend, as they told it through the store."""

from typing import Final, NamedTuple


class PeerWork(NamedTuple):
    """The work of all other gateways at one backend.

    `requests` sequences are there, `streaming` of them past their prompt; `left_tokens` are those
    that their answers are thought to still have, `pending_s` the seconds of prompts not yet read,
    `context_tokens` what all of it takes of the KV memory.
    """

    requests: int = 0
    streaming: int = 0
    left_tokens: float = 0.0
    pending_s: float = 0.0
    context_tokens: float = 0.0

    @property
    def is_decoding(self) -> bool:
        """Whether none of them reads a prompt."""
        return self.streaming >= self.requests


NO_PEERS: Final = PeerWork()
