"""Scores label by label, against counts made by hand."""

from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe

from elmo.apps.cli.details import detail_lines
from elmo.tasks.details import LabelScore, confusion_details
from elmo.tasks.examples import Example, Text

PAIRS = [("a", "a"), ("a", "b"), ("a", "a"), ("b", "b"), ("c", "b")]


def test_labels_have_precision_recall_and_f1_and_confusions_are_counted() -> None:
    details = confusion_details(PAIRS)
    assert details.labels["a"] == LabelScore(precision=100.0, recall=200 / 3, f1=80.0, wanted=3, given=2)
    assert details.labels["b"] == LabelScore(precision=100 / 3, recall=100.0, f1=50.0, wanted=1, given=3)
    assert details.labels["c"] == LabelScore(precision=0.0, recall=0.0, f1=0.0, wanted=1, given=0)
    assert details.confusion == {"a": {"a": 2, "b": 1}, "b": {"b": 1}, "c": {"b": 1}}
    assert list(detail_lines(details))[-4:] == [
        "wanted / given         a       b       c",
        "a                      2       1       0",
        "b                      0       1       0",
        "c                      0       1       0",
    ]


def test_of_many_labels_the_most_frequent_mistakes_are_told() -> None:
    pairs = [(f"t{n}", f"t{n}") for n in range(20)] + [("t1", "t2")] * 3 + [("t5", "t4")]
    lines = list(detail_lines(confusion_details(pairs)))
    assert lines[-3:] == ["the most frequent mistakes:", "     3  t1 taken for t2", "     1  t5 taken for t4"]


def test_chunks_are_scored_by_their_label_and_tags_by_themselves() -> None:
    ner = small_recipe(SAMPLES_OF_TASKS["ner"]).make_task()
    examples = [Example((Text(("a", "b", "c")),), ("B-PER", "I-PER", "O")), Example((Text(("d",)),), ("B-LOC",))]
    found = ner.details(examples, [("B-PER", "O", "O"), ("B-LOC",)])
    assert found.confusion is None
    assert {name: (s.f1, s.wanted, s.given) for name, s in found.labels.items()} == {
        "LOC": (100.0, 1, 1),
        "PER": (0.0, 1, 1),
    }
    pos = small_recipe(SAMPLES_OF_TASKS["pos"]).make_task()
    found = pos.details([Example((Text(("a", "b")),), ("NN", "VB"))], [("NN", "NN")])
    assert found.confusion == {"NN": {"NN": 1}, "VB": {"NN": 1}}
