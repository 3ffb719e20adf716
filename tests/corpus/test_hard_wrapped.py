"""Hard-wrapped text in a corpus: the store is that of the paragraphs, whoever builds it and in what pieces."""

import io
import logging
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from tests.text.test_wrapped import paragraphs

from elmo.corpus import CorpusStore, Moment, build_corpus
from elmo.errors import ConfigError, ResumeError
from elmo.text.tokenizer import Tokenizer


def quiet(progress: Moment) -> None:
    pass


@pytest.fixture
def wrapped(tmp_path: Path) -> Path:
    return write(tmp_path / "wrapped.txt", "\n\n".join(textwrap.fill(text, 60) for text in paragraphs()))


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return write(tmp_path / "whole.txt", "\n\n".join(paragraphs()))


def write(path: Path, text: str) -> Path:
    path.write_text(text + "\n", encoding="utf-8")
    return path


def build(inputs: Path | list[Path], out: Path, **options: object) -> CorpusStore:
    return build_corpus(inputs, out, **{"min_count": 1, "workers": 1, "progress": quiet, **options})


def assert_same(one: CorpusStore, other: CorpusStore) -> None:
    for split in ("train", "heldout"):
        np.testing.assert_array_equal(one.symbols(split), other.symbols(split))
        np.testing.assert_array_equal(one.sentences(split), other.sentences(split))
    assert one.vocabulary.words == other.vocabulary.words


@pytest.mark.parametrize(("workers", "block_bytes"), [(1, 1 << 20), (1, 300), (2, 1000)])
def test_wrapped_text_gives_the_store_of_its_paragraphs(
    wrapped: Path, whole: Path, tmp_path: Path, workers: int, block_bytes: int
) -> None:
    store = build(wrapped, tmp_path / "store", workers=workers, block_bytes=block_bytes)
    assert_same(store, build(whole, tmp_path / "paragraphs"))
    assert [source["lines"] for source in store.manifest["sources"]] == ["wrapped"]


def test_blank_lines_still_part_documents(wrapped: Path, whole: Path, tmp_path: Path) -> None:
    store = build(wrapped, tmp_path / "store", documents="blank-lines")
    assert_same(store, build(whole, tmp_path / "paragraphs", documents="blank-lines"))
    assert sum(counts.documents for counts in store.counts.values()) == 60


def test_standard_input_is_recognized_too(
    wrapped: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(wrapped.read_bytes())))
    assert_same(build(["-"], tmp_path / "store"), build(whole, tmp_path / "paragraphs"))


def test_each_file_is_judged_for_itself_and_one_line_says_what_was_done(
    wrapped: Path, whole: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        store = build([whole, wrapped], tmp_path / "both")
        build(whole, tmp_path / "whole")
    assert [source["lines"] for source in store.manifest["sources"]] == ["whole", "wrapped"]
    (message,) = caplog.messages
    assert message.startswith("1 of 2 files have lines cut at a width (hard-wrapped), the first is ")
    assert "--lines whole" in message


def test_joining_can_be_forbidden_and_forced(wrapped: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lines = wrapped.read_text("utf-8").count("\n") - 59
    store = build(wrapped, tmp_path / "whole", lines="whole")
    assert sum(counts.sentences for counts in store.counts.values()) >= lines
    short = write(tmp_path / "short.txt", "The ferry left the old harbour of\nLisbon when nobody was there.")
    assert build(short, tmp_path / "auto", heldout=0.0).counts["train"].sentences == 2
    assert build(short, tmp_path / "forced", heldout=0.0, lines="wrapped").counts["train"].sentences == 1
    assert not caplog.messages


@pytest.mark.parametrize(
    "options", [{"tokenized": True}, {"tokenizer": Tokenizer("unicode", None)}, {"documents": "lines"}]
)
def test_lines_that_the_caller_has_named_sentences_or_documents_are_left_alone(
    wrapped: Path, tmp_path: Path, options: dict[str, object]
) -> None:
    store = build(wrapped, tmp_path / "store", **options)
    assert store.manifest["options"]["lines"] == "whole"
    if "documents" not in options:
        with pytest.raises(ConfigError, match="lines is 'wrapped', but each line is a sentence"):
            build(wrapped, tmp_path / "other", lines="wrapped", **options)


def test_an_unknown_way_to_read_lines_is_refused(wrapped: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="lines is 'joined', but it must be one of 'auto', 'wrapped', 'whole'"):
        build(wrapped, tmp_path / "store", lines="joined")


def test_another_way_to_read_lines_is_not_resumed(wrapped: Path, tmp_path: Path) -> None:
    def stop(progress: Moment) -> None:
        if progress.stage != "reading":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(wrapped, tmp_path / "store", progress=stop, block_bytes=1000)
    with pytest.raises(ResumeError, match=r"options\.lines was 'auto' and is 'whole' now"):
        build(wrapped, tmp_path / "store", lines="whole", resume=True, block_bytes=1000)
    resumed = build(wrapped, tmp_path / "store", resume=True, block_bytes=1000)
    assert_same(resumed, build(wrapped, tmp_path / "straight"))
