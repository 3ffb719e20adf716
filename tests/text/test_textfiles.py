"""Files to sentences: with their places, tokenized or raw, and counted."""

from pathlib import Path

from elmo.text.textfiles import PlacedSentence, count_words_of_files, placed_sentences, sentences_of_files
from elmo.text.tokenizer import Tokenizer


def test_raw_lines_are_split_into_sentences_that_know_their_file_and_line(tmp_path: Path) -> None:
    one, two = tmp_path / "1.txt", tmp_path / "2.txt"
    one.write_text("It rained. We stayed in.\n\nIt stopped.\n", encoding="utf-8")
    two.write_text("Yes.\n", encoding="utf-8")
    assert list(placed_sentences([tmp_path], Tokenizer(), tokenized=False)) == [
        PlacedSentence(str(one), 1, ["It", "rained", "."]),
        PlacedSentence(str(one), 1, ["We", "stayed", "in", "."]),
        PlacedSentence(str(one), 3, ["It", "stopped", "."]),
        PlacedSentence(str(two), 1, ["Yes", "."]),
    ]


def test_a_tokenized_line_is_a_sentence_whatever_its_tokens_are(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("It rained. We  stayed\n \n", encoding="utf-8")
    assert list(sentences_of_files([path], Tokenizer(), tokenized=True)) == [["It", "rained.", "We", "stayed"]]


def test_words_are_counted_over_all_files(tmp_path: Path) -> None:
    for name in ("1.txt", "2.txt"):
        (tmp_path / name).write_text("A cat. A dog.\n", encoding="utf-8")
    counts = count_words_of_files([tmp_path], Tokenizer())
    assert counts == {"A": 4, "cat": 2, "dog": 2, ".": 4}
