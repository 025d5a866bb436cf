"""Paged KV memory: no block is lost or given twice, and cached content is the content asked for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
)

from gateway.emulator.kv import GivenBlockHashes, KvCache, TokenBlockHashes

SIZE = 4


def sequence(*contents: int) -> TokenBlockHashes:
    """Hashes of one block per number, filled with it."""
    return TokenBlockHashes([content for content in contents for _ in range(SIZE)], SIZE)


def fill(cache: KvCache, hashes: TokenBlockHashes, count: int) -> list[int]:
    """Take and publish `count` blocks of a sequence."""
    blocks = cache.take(count)
    assert blocks is not None
    for index, block in enumerate(blocks):
        key = hashes.at(index)
        assert key is not None
        cache.publish(block, key)
    return blocks


def test_the_null_block_is_never_handed_out() -> None:
    cache = KvCache(4, SIZE)
    assert cache.usable_blocks == 3
    assert sorted(cache.take(3) or ()) == [1, 2, 3]
    assert cache.usage_ratio == 1.0


def test_too_many_blocks_change_nothing() -> None:
    cache = KvCache(4, SIZE)
    assert cache.take(4) is None
    assert cache.free_blocks == 3
    assert cache.usage_ratio == 0.0


def test_freed_content_is_found_until_its_block_is_taken() -> None:
    cache = KvCache(5, SIZE)
    old = fill(cache, sequence(1, 2), 2)
    cache.release(old)
    assert cache.usage_ratio == 0.0
    assert cache.cached_prefix(sequence(1, 2, 3), 3) == old
    new = fill(cache, sequence(7, 8), 2)
    assert not set(new) & set(old)  # the longest unused blocks are taken first
    assert cache.cached_prefix(sequence(1, 2), 2) == old
    cache.take(1)
    assert cache.cached_prefix(sequence(1, 2), 2) == old[:1]  # the end of a prefix goes first


def test_a_prefix_is_found_only_from_its_start_and_up_to_a_limit() -> None:
    cache = KvCache(9, SIZE)
    blocks = fill(cache, sequence(1, 2, 3), 3)
    assert cache.cached_prefix(sequence(1, 2, 3, 4), 4) == blocks
    assert cache.cached_prefix(sequence(1, 2, 3), 2) == blocks[:2]
    assert cache.cached_prefix(sequence(1, 9, 3), 3) == blocks[:1]
    assert cache.cached_prefix(sequence(2, 3), 2) == []


def test_a_shared_block_is_free_when_the_last_user_leaves() -> None:
    cache = KvCache(5, SIZE)
    blocks = fill(cache, sequence(1), 1)
    cache.reference(blocks)
    cache.release(blocks)
    assert cache.free_blocks == 3
    cache.release(blocks)
    assert cache.free_blocks == 4


def test_content_that_is_used_again_can_still_be_found() -> None:
    cache = KvCache(4, SIZE)
    blocks = fill(cache, sequence(1), 1)
    cache.release(blocks)
    cache.reference(blocks)
    assert cache.free_blocks == 2
    assert cache.cached_prefix(sequence(1), 1) == blocks
    assert cache.take(3) is None
    cache.take(2)
    assert cache.cached_prefix(sequence(1), 1) == blocks


def test_cached_free_blocks_count_as_needed() -> None:
    cache = KvCache(6, SIZE)
    kept = fill(cache, sequence(1), 1)
    freed = fill(cache, sequence(2), 1)
    cache.release(freed)
    assert cache.needs(kept, 2) == 2
    assert cache.needs([*kept, *freed], 2) == 3


def test_the_first_block_with_some_content_stays_the_one_found() -> None:
    cache = KvCache(6, SIZE)
    first = fill(cache, sequence(1), 1)
    fill(cache, sequence(1), 1)
    assert cache.cached_prefix(sequence(1), 1) == first


def test_an_emptied_cache_finds_nothing_and_keeps_what_is_used() -> None:
    cache = KvCache(6, SIZE)
    blocks = fill(cache, sequence(1, 2), 2)
    cache.forget_all()
    assert cache.cached_prefix(sequence(1, 2), 2) == []
    assert cache.free_blocks == 3
    cache.release(blocks)
    assert cache.free_blocks == 5


@pytest.mark.parametrize(("length", "full"), [(0, 0), (3, 0), (4, 1), (7, 1), (8, 2)])
def test_only_full_blocks_have_a_hash(length: int, full: int) -> None:
    hashes = TokenBlockHashes(list(range(length)), SIZE)
    assert all(hashes.at(index) is not None for index in range(full))
    assert hashes.at(full) is None


def test_given_hashes_end_where_they_end() -> None:
    hashes = GivenBlockHashes([11, 12])
    assert [hashes.at(index) for index in range(3)] == [11, 12, None]


@given(st.lists(st.integers(0, 3), max_size=24), st.lists(st.integers(0, 3), max_size=24))
def test_block_hashes_are_equal_exactly_for_equal_beginnings(
    one: list[int], other: list[int]
) -> None:
    first, second = TokenBlockHashes(one, SIZE), TokenBlockHashes(other, SIZE)
    for index in range(min(len(one), len(other)) // SIZE):
        end = (index + 1) * SIZE
        assert (first.at(index) == second.at(index)) is (one[:end] == other[:end])


@given(st.lists(st.integers(0, 9), max_size=30))
def test_hashes_of_a_growing_list_are_those_of_the_whole(ids: list[int]) -> None:
    growing: list[int] = []
    early = TokenBlockHashes(growing, SIZE)
    for token in ids:
        growing.append(token)
        early.at(len(growing) // SIZE)
    late = TokenBlockHashes(ids, SIZE)
    count = len(ids) // SIZE + 1
    assert [early.at(index) for index in range(count)] == [late.at(index) for index in range(count)]


class Blocks(RuleBasedStateMachine):
    """Sequences come, share prefixes, and go, in any order; the model is who holds what."""

    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.cache = KvCache(12, SIZE)
        self.holders: dict[int, list[int]] = {}
        self.content: dict[int, tuple[int, ...]] = {}
        self.counter = 0

    @rule(target=held, contents=st.lists(st.integers(0, 1), min_size=1, max_size=5))
    def admit(self, contents: list[int]) -> object:
        hashes = sequence(*contents)
        cached = self.cache.cached_prefix(hashes, len(contents))
        for index, block in enumerate(cached):
            assert self.content[block] == tuple(contents[: index + 1])
        fresh = len(contents) - len(cached)
        if self.cache.needs(cached, fresh) > self.cache.free_blocks:
            return multiple()
        self.cache.reference(cached)
        taken = self.cache.take(fresh)
        assert taken is not None
        in_use = {block for blocks in self.holders.values() for block in blocks}
        assert not in_use & set(taken)
        assert not set(cached) & set(taken)
        blocks = [*cached, *taken]
        for index, block in enumerate(blocks):
            self.content[block] = tuple(contents[: index + 1])
            key = hashes.at(index)
            assert key is not None
            self.cache.publish(block, key)
        self.counter += 1
        self.holders[self.counter] = blocks
        return self.counter

    @rule(name=consumes(held))
    def leave(self, name: int) -> None:
        self.cache.release(self.holders.pop(name))

    @invariant()
    def references_are_the_holders(self) -> None:
        cache = self.cache
        counts = [
            sum(block in blocks for blocks in self.holders.values())
            for block in range(1, cache.usable_blocks + 1)
        ]
        assert [cache.references(block) for block in range(1, cache.usable_blocks + 1)] == counts
        assert cache.free_blocks == counts.count(0)
        assert cache.usage_ratio == 1 - counts.count(0) / cache.usable_blocks

    def teardown(self) -> None:
        for blocks in self.holders.values():
            self.cache.release(blocks)
        assert self.cache.free_blocks == self.cache.usable_blocks


TestBlocks = Blocks.TestCase
TestBlocks.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
