"""Joining the words of all blocks: one order, whatever the shares."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.corpus.reference import make_text

from elmo.corpus import merge
from elmo.corpus.bar import StageClock
from elmo.corpus.block import BUCKETS, BlockFacts, StoredBlock, number_words, write_block
from elmo.corpus.merge import BYTES_A_TYPE, MergedTypes, divide
from elmo.corpus.worker import split_line


@pytest.mark.parametrize("number_of_shares", [1, 3, BUCKETS])
def test_types_are_in_order_and_each_block_finds_its_own(tmp_path: Path, monkeypatch, number_of_shares: int) -> None:
    monkeypatch.setattr(merge, "TYPES_AT_ONCE", 100)
    texts = [make_text(40, seed=seed) for seed in range(3)]
    blocks, counts = [], b""
    for i, text in enumerate(texts):
        block, segments = number_words([text], split_line, documents="files")
        facts = BlockFacts("", len(block.counts), segments)
        write_block(tmp_path / f"{i}", block, facts)
        blocks.append(StoredBlock(tmp_path / f"{i}", facts))
        counts += block.counts.astype(np.int32).tobytes()
    (tmp_path / "counts").write_bytes(counts)
    (tmp_path / "scratch").mkdir()
    shares = divide(BUCKETS, memory_limit=BUCKETS * BYTES_A_TYPE // number_of_shares)
    assert len(shares) == number_of_shares
    clock = StageClock("merging", lambda _: None, total=None)
    types = MergedTypes(blocks, tmp_path / "counts", shares=shares, folder=tmp_path / "scratch", clock=clock)

    chunks = list(types.chunks(clock))
    words = [word.decode() for chunk in chunks for word in chunk.words]
    expected = Counter(word for text in texts for word in text.split())
    assert words == sorted(expected, key=lambda word: (-expected[word], word.encode()))
    assert np.concatenate([chunk.counts for chunk in chunks]).tolist() == [expected[word] for word in words]
    assert types.count == len(words)

    for text, block, lookup in zip(texts, blocks, types.lookups(), strict=True):
        symbols = lookup[block.array("symbols")]
        assert [words[i - 1] for i in symbols[symbols > 0]] == text.split()


@pytest.mark.parametrize("entries", [0, 1, 10_000, 10_000_000])
@pytest.mark.parametrize("memory_limit", [1, 1 << 20, 1 << 31])
def test_shares_cover_all_buckets_and_fit_the_limit(entries: int, memory_limit: int) -> None:
    shares = divide(entries, memory_limit=memory_limit)
    assert [bucket for first, last in shares for bucket in range(first, last)] == list(range(BUCKETS))
    largest = max(last - first for first, last in shares)
    assert largest == 1 or entries * BYTES_A_TYPE * largest / BUCKETS <= 1.5 * memory_limit
