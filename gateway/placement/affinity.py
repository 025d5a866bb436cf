"""Which prompts a backend has in its cache, as far as they were sent there."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Final

BLOCK_TOKENS: Final = 128
"""Tokens that one block is thought to have."""

MOST_BLOCKS: Final = 1_000_000
"""Blocks remembered of a backend at most, whatever it tells of its memory."""

DEFAULT_BLOCKS: Final = 8192
"""Blocks remembered of a backend whose KV memory is not known."""

News = tuple[tuple[int, ...], int]
"""New blocks of a prompt, and the tokens that followed the last of them."""

_MOST_NEWS: Final = 256


class PrefixIndex:
    """The blocks sent to one backend, the least recently used dropped first.

    A block is named by a hash of all text up to its end. With the last block of a prompt it is
    kept how many tokens followed it, the answer included: a conversation that goes on finds these
    cached as well.
    """

    __slots__ = ("_blocks", "_limit", "_news", "version")

    def __init__(self, max_blocks: int, *, is_told: bool = False) -> None:
        """With `is_told` what is new is kept for other gateways, until `take_news`."""
        self._news: deque[News] | None = deque(maxlen=_MOST_NEWS) if is_told else None
        self._limit = max(1, max_blocks)
        self._blocks: OrderedDict[int, int] = OrderedDict()
        self.version = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def __repr__(self) -> str:
        return f"<PrefixIndex {len(self)} of {self._limit} blocks>"

    def match(self, prefix: Sequence[int]) -> tuple[int, int]:
        """Blocks from the start of a prompt that are thought to be cached, and tokens after them.

        The latter are the answer to the prompt that ended there, if there was one.
        """
        blocks = self._blocks
        matched = 0
        for key in prefix:
            if key not in blocks:
                break
            matched += 1
        if not 0 < matched < len(prefix):
            return matched, 0
        return matched, blocks[prefix[matched - 1]]

    def add(self, prefix: Sequence[int], tail_tokens: int = 0) -> None:
        """Remember a prompt's blocks, the first one the longest, and what followed the last."""
        if self._news is not None and prefix:
            fresh = tuple(key for key in prefix if key not in self._blocks)
            if fresh or tail_tokens:
                self._news.append((fresh or (prefix[-1],), tail_tokens))
        self.hear(prefix, tail_tokens)

    def take_news(self) -> list[News]:
        """What was added here since the last time, oldest first: blocks and what followed them."""
        if not self._news:
            return []
        taken = list(self._news)
        self._news.clear()
        return taken

    def hear(self, prefix: Sequence[int], tail_tokens: int = 0) -> None:
        """The same as `add`, of a prompt that another gateway has sent there."""
        blocks = self._blocks
        for key in reversed(prefix):
            if key in blocks:
                blocks.move_to_end(key)
            else:
                blocks[key] = 0
        if prefix and tail_tokens:
            blocks[prefix[-1]] = tail_tokens
        while len(blocks) > self._limit:
            blocks.popitem(last=False)
        self.version += 1

    def resize(self, max_blocks: int) -> None:
        """The engine has told its memory: remember no more blocks than it can."""
        self._limit = max(1, max_blocks)
        while len(self._blocks) > self._limit:
            self._blocks.popitem(last=False)

    def clear(self) -> None:
        """The engine was started anew: its cache is empty."""
        self._blocks.clear()
        self.version += 1
