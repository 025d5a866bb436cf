"""Text for drawn requests: real prompts of the drawn lengths that share what their hashes share."""

from dataclasses import dataclass, field
from random import Random
from typing import Final

from gateway.emulator import template, tokens
from gateway.emulator.generation import Limits, complete
from gateway.emulator.lengths import length_mark
from gateway.emulator.vocabulary import ENGLISH
from tests.sim.conversations import MAX_BLOCKS_BITS
from tests.sim.requests import SimRequest

Message = dict[str, str]

SYSTEM_OVERHEAD_TOKENS: Final = 5
"""What the chat template puts around a system message."""
TEXT_SEED: Final = 0
"""Equal on all backends, so that the answers can be known beforehand."""


def words(count: int, rng: Random) -> str:
    """So many words, each of which is one token of the emulator."""
    return " ".join(rng.choices(ENGLISH, k=count))


def prompt_ids(messages: list[Message]) -> list[int]:
    """The prompt as the emulated engine sees it."""
    return tokens.encode(template.render(messages, model=""))


def shared_blocks(request: SimRequest) -> tuple[int, int]:
    """Number of the shared beginning and how many blocks of this request lie in it."""
    roots = [key >> MAX_BLOCKS_BITS for key in request.hashes]
    return (roots[0], roots.count(roots[0])) if roots else (0, 0)


@dataclass(slots=True)
class Conversation:
    """The messages of one session so far, answers included."""

    messages: list[Message]
    rng: Random

    def ask(self, request: SimRequest) -> list[Message]:
        """Add the next question; the messages to send, about `prompt_tokens` long as a prompt.

        The answer that an engine will give is added as well, for the next question.
        """
        mark = length_mark(request.output_tokens)
        least = [*self.messages, {"role": "user", "content": f"\n{mark}"}]
        count = max(1, request.prompt_tokens - len(prompt_ids(least)))
        question = {"role": "user", "content": f"{words(count, self.rng)}\n{mark}"}
        asked = [*self.messages, question]
        rules = Limits(request.output_tokens, ends_after=request.output_tokens)
        answer = complete(prompt_ids(asked), rules, seed=TEXT_SEED)
        self.messages = [*asked, {"role": "assistant", "content": answer}]
        return asked


@dataclass(slots=True)
class Talks:
    """All sessions of a workload; sessions with the same shared beginning share its text."""

    seed: int
    block_tokens: int
    _talks: dict[str, Conversation] = field(default_factory=dict)

    def ask(self, request: SimRequest) -> list[Message]:
        """The messages of a request; requests must come in order of arrival."""
        session = request.known.session
        talk = self._talks.get(session)
        if talk is None:
            talk = Conversation([self._system(request)], Random(f"{self.seed}/{session}"))
            self._talks[session] = talk
        return talk.ask(request)

    def _system(self, request: SimRequest) -> Message:
        # Ending with a full block, it shares exactly the blocks that the hashes share.
        root, blocks = shared_blocks(request)
        count = max(1, blocks * self.block_tokens - SYSTEM_OVERHEAD_TOKENS)
        return {"role": "system", "content": words(count, Random(f"{self.seed}/shared/{root}"))}
