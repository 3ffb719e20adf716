"""One block: its own numbering, its documents, and what a file of it gives back."""

import gc
from pathlib import Path

import numpy as np
import pytest

from elmo.corpus.block import (
    BUCKETS,
    Block,
    BlockFacts,
    SegmentFacts,
    StoredBlock,
    number_words,
    read_facts,
    write_block,
)
from elmo.corpus.worker import handle, split_line

FACTS = BlockFacts(sha256="0" * 64, types=3, segments=[SegmentFacts(5, 2, True), SegmentFacts(1, 1, False)])


def block_of(text: str, documents="files") -> Block:
    return number_words([text], split_line, documents=documents)[0]


def words_of(block: Block) -> list[str]:
    return block.words.tobytes().decode().split("\n") if len(block.words) else []


def sentences_of(block: Block) -> list[list[str]]:
    words = ["\n", *words_of(block)]
    text = " ".join(words[i] for i in block.symbols.tolist())
    return [sentence.split() for sentence in text.split("\n")[:-1]]


def test_the_numbers_stand_for_the_words_of_the_text() -> None:
    text = "a b a\n\nb c\u00a0d\n   \ne\n"
    block = block_of(text)
    assert sentences_of(block) == [["a", "b", "a"], ["b", "c", "d"], ["e"]]
    assert block.lengths.tolist() == [3, 3, 1]
    assert dict(zip(words_of(block), block.counts.tolist(), strict=True)) == {"a": 2, "b": 2, "c": 1, "d": 1, "e": 1}


@pytest.mark.parametrize(
    ("documents", "text", "starts", "ends"),
    [
        ("files", "a\n\nb", [], False),
        ("lines", "\na\nb\n\nc", [0, 1, 2], False),
        ("blank-lines", "a\nb\n\nc", [2], False),
        ("blank-lines", "\na\n\n \n\nb", [0, 1], False),
        ("blank-lines", "a\n", [], True),
        ("blank-lines", "", [], True),
        ("blank-lines", "a", [], False),
    ],
)
def test_documents_start_where_the_text_says(documents, text, starts, ends) -> None:
    block, (facts,) = number_words([text], split_line, documents=documents)
    assert block.documents.tolist() == starts
    assert facts.ends_document is ends


def test_each_text_of_a_block_has_its_own_facts() -> None:
    block, facts = number_words(["a b\n", "", "b\n\nc d"], split_line, documents="blank-lines")
    assert facts == [(2, 1, True), (0, 0, True), (3, 2, False)]
    assert sentences_of(block) == [["a", "b"], ["b"], ["c", "d"]]
    assert block.documents.tolist() == [2]


def test_a_block_without_words_is_empty() -> None:
    block = block_of("\n \n")
    assert (len(block.symbols), len(block.lengths), len(block.counts)) == (0, 0, 0)


def test_making_a_block_leaves_nothing_to_the_garbage_collector() -> None:
    """Strings do not set it off, so that what it alone can free piles up block after block."""
    gc.collect()
    gc.disable()
    try:
        block_of("a b c")
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_numbers_are_small_where_they_can_be() -> None:
    assert block_of("a b").symbols.dtype == np.uint16
    assert block_of(" ".join(map(str, range(70_000)))).symbols.dtype == np.uint32


def test_the_words_of_all_buckets_are_all_words_once(tmp_path: Path) -> None:
    block = block_of(" ".join(f"w{i}" for i in range(500)))
    write_block(tmp_path / "block", block, FACTS)
    stored = StoredBlock(tmp_path / "block", FACTS)
    found = [word for bucket in range(BUCKETS) for word in stored.words(bucket, bucket + 1)]
    assert found == stored.words(0, BUCKETS) == [word.encode() for word in words_of(block)]
    assert sorted(found) == sorted(f"w{i}".encode() for i in range(500))


@pytest.mark.parametrize("text", ["a b\nc\n", "", "\n"])
def test_a_block_comes_back_from_disk(tmp_path: Path, text: str) -> None:
    block = block_of(text, documents="lines")
    write_block(tmp_path / "block", block, FACTS)
    assert read_facts(tmp_path / "block") == FACTS
    stored = StoredBlock(tmp_path / "block", FACTS)
    for name in ("symbols", "lengths", "documents", "words", "counts", "bucket_words", "bucket_bytes"):
        assert stored.array(name).tolist() == getattr(block, name).tolist()


@pytest.mark.parametrize("content", [None, b"", b"\0" * 8, b"\x10\0\0\0\0\0\0\0not json at all!"])
def test_a_missing_or_damaged_block_has_no_facts(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "block").write_bytes(content)
    assert read_facts(tmp_path / "block") is None


def test_a_task_answers_with_the_facts_it_wrote(tmp_path: Path) -> None:
    tokenizer = {"rule": "treebank", "language": "en"}
    task = {"path": str(tmp_path / "block"), "tokenized": False, "tokenizer": tokenizer, "documents": "files"}
    answer = handle({**task, "sizes": [22, 5], "sha256": "abc"}, b"It's late. We go home.Home.")
    facts = BlockFacts.from_json(answer["facts"])
    assert facts == BlockFacts("abc", 8, [SegmentFacts(8, 2, False), SegmentFacts(2, 1, False)])
    assert (facts.words, facts.sentences) == (10, 3)
    assert read_facts(tmp_path / "block") == facts
