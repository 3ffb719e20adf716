"""Sentiment trees: every phrase, brackets unescaped, and what is not a tree."""

from pathlib import Path

import pytest
from tests.tasks.conftest import SAMPLES

from elmo.errors import InputError
from elmo.tasks.classification.task import Classification, ClassificationConfig
from elmo.tasks.classification.trees import Phrase, read_tree
from elmo.text.tokenizer import Tokenizer


def test_a_tree_gives_the_sentence_first_and_then_every_phrase() -> None:
    assert read_tree("(3 (2 A) (4 (3 fine) (2 film)))", place="here") == [
        Phrase(("A", "fine", "film"), "3"),
        Phrase(("A",), "2"),
        Phrase(("fine", "film"), "4"),
        Phrase(("fine",), "3"),
        Phrase(("film",), "2"),
    ]


def test_escaped_characters_are_themselves_again() -> None:
    assert read_tree("(2 (2 -LRB-) (2 and\\/or))", place="here")[0].words == ("(", "and/or")


@pytest.mark.parametrize("line", ["(2 (2 a) (2 b)", "(2 a))", "(2 a) (3 b)", "2 a", "(2 (3 ))", "( (2 a))", "()"])
def test_what_is_not_a_tree_is_refused_with_its_place(line: str) -> None:
    with pytest.raises(InputError, match=r"^file: line 7 is not a tree"):
        read_tree(line, place="file: line 7")


def test_phrases_are_learned_once_and_only_in_training() -> None:
    path = str(SAMPLES / "sentiment-train.trees")
    task = Classification(ClassificationConfig(sentence_repeats=1))
    sentences = task.read(path)
    assert len(sentences) == 9
    learned = task.training_examples(sentences)
    assert len({(e.texts, e.answer) for e in learned}) == len(learned) > 40
    repeated = Classification(ClassificationConfig(sentence_repeats=3)).training_examples(sentences)
    assert len(repeated) == len(learned) + 2 * 9
    assert repeated[-9:] == sentences
    alone = Classification(ClassificationConfig(subphrases=False))
    assert len(alone.training_examples(alone.read(path))) == 9


def test_lines_of_text_are_tokenized_or_not_as_told() -> None:
    path = str(SAMPLES / "reviews-train.tsv")
    assert Classification(ClassificationConfig()).read(path)[1].tokens[2:5] == ("did", "n't", "work")
    plain = Classification(ClassificationConfig(tokenizer=None)).read(path)
    assert plain[1].tokens[2:4] == ("didn't", "work")
    assert [example.answer for example in plain[:2]] == ["positive", "negative"]


def test_raw_text_is_tokenized_as_the_training_text_was(tmp_path: Path) -> None:
    (tmp_path / "raw.txt").write_text("It didn’t work. Bad.\n", encoding="utf-8")
    cut = {
        "treebank": ("It", "did", "n't", "work", ".", "Bad", "."),
        "unicode": ("It", "didn't", "work", ".", "Bad", "."),
        None: ("It", "didn’t", "work.", "Bad."),
    }
    for rule, expected in cut.items():
        task = Classification(ClassificationConfig(tokenizer=rule))
        (found,) = task.read_questions(str(tmp_path / "raw.txt"), Tokenizer(rule="unicode"))
        assert found.tokens == expected
        (tmp_path / "train.tsv").write_text("bad\tIt didn’t work. Bad.\n", encoding="utf-8")
        assert [example.tokens for example in task.read(str(tmp_path / "train.tsv"))] == [expected]
