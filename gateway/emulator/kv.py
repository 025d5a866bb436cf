"""Paged KV memory with a prefix cache: blocks, reference counts, least recently used eviction."""

from collections.abc import Sequence
from typing import Protocol


class BlockHashes(Protocol):
    """The identity of a sequence's blocks: equal hash means equal tokens up to its end."""

    def at(self, index: int) -> int | None:
        """Hash of the full block `index`, or None when it has no known content."""
        ...


class TokenBlockHashes:
    """A hash chain over a growing list of token ids."""

    __slots__ = ("_block_size", "_chain", "_ids")

    def __init__(self, ids: Sequence[int], block_size: int) -> None:
        self._ids = ids
        self._block_size = block_size
        self._chain: list[int] = []

    def at(self, index: int) -> int | None:
        """Hash of the full block `index` and all before it; None while it is not full."""
        chain = self._chain
        size = self._block_size
        while len(chain) <= index:
            start = len(chain) * size
            if start + size > len(self._ids):
                return None
            previous = chain[-1] if chain else size
            chain.append(hash((previous, *self._ids[start : start + size])))
        return chain[index]


class GivenBlockHashes:
    """Hashes known beforehand, as in traces that carry no text."""

    __slots__ = ("_hashes",)

    def __init__(self, hashes: Sequence[int]) -> None:
        self._hashes = hashes

    def at(self, index: int) -> int | None:
        """The given hash of block `index`, None beyond the end."""
        return self._hashes[index] if index < len(self._hashes) else None


class KvCache:
    """The blocks of one engine.

    A block is in use (referenced), or free. A free block that still holds cached content stays
    findable until it is taken for something else; the longest unused is taken first.
    """

    __slots__ = ("_block_of", "_free", "_hash_of", "_references", "block_size", "usable_blocks")

    def __init__(self, num_blocks: int, block_size: int) -> None:
        """`num_blocks` includes the null block, which vLLM never hands out."""
        self.block_size = block_size
        self.usable_blocks = num_blocks - 1
        self._free: dict[int, None] = dict.fromkeys(range(1, num_blocks))
        self._references = [0] * num_blocks
        self._hash_of: dict[int, int] = {}
        self._block_of: dict[int, int] = {}

    @property
    def free_blocks(self) -> int:
        """Blocks that can be taken, cached content or not."""
        return len(self._free)

    @property
    def usage_ratio(self) -> float:
        """Part of the blocks that is referenced, 0 to 1 (cached but free blocks count as free)."""
        return 1.0 - len(self._free) / self.usable_blocks

    def cached_prefix(self, hashes: BlockHashes, limit: int) -> list[int]:
        """The longest run of cached blocks from the start, at most `limit` blocks."""
        found: list[int] = []
        for index in range(limit):
            key = hashes.at(index)
            block = None if key is None else self._block_of.get(key)
            if block is None:
                break
            found.append(block)
        return found

    def needs(self, cached: Sequence[int], fresh: int) -> int:
        """How many free blocks it takes to reference `cached` and add `fresh` new ones."""
        references = self._references
        return fresh + sum(1 for block in cached if references[block] == 0)

    def reference(self, blocks: Sequence[int]) -> None:
        """Use cached blocks once more."""
        for block in blocks:
            if self._references[block] == 0:
                del self._free[block]
            self._references[block] += 1

    def take(self, count: int) -> list[int] | None:
        """`count` blocks with no content, or None (and nothing changes) when there are too few."""
        free = self._free
        if count > len(free):
            return None
        taken: list[int] = []
        for _ in range(count):
            block = next(iter(free))
            del free[block]
            self._forget(block)
            self._references[block] = 1
            taken.append(block)
        return taken

    def publish(self, block: int, key: int) -> None:
        """Make a full block findable; the first block with some content stays the one found."""
        if key not in self._block_of and block not in self._hash_of:
            self._block_of[key] = block
            self._hash_of[block] = key

    def release(self, blocks: Sequence[int]) -> None:
        """Give blocks back, the last one to be reused first, as its prefix is the rarest."""
        for block in reversed(blocks):
            self._references[block] -= 1
            if self._references[block] == 0:
                self._free[block] = None

    def forget_all(self) -> None:
        """Empty the prefix cache; blocks in use stay in use."""
        self._hash_of.clear()
        self._block_of.clear()

    def references(self, block: int) -> int:
        """How many sequences use `block`."""
        return self._references[block]

    def _forget(self, block: int) -> None:
        key = self._hash_of.pop(block, None)
        if key is not None:
            del self._block_of[key]
