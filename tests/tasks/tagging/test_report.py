"""What a tagger says of its answers: probabilities against every path, places in the text as it was written."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe

from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.examples import Example, Text
from elmo.tasks.tagging.model import Tagger
from elmo.tasks.tagging.spans import Span, find_spans
from elmo.tasks.training.dataset import Dataset
from elmo.tasks.training.trained import TrainedTask, build_model
from elmo.text.tokenizer import Tokenizer

SAMPLE = SAMPLES_OF_TASKS["ner"]
LABELS = ["B-X", "E-X", "I-X", "O", "S-X"]


@pytest.fixture
def trained() -> TrainedTask:
    torch.manual_seed(3)
    recipe = small_recipe(SAMPLE, embedding__elmo__where="none", embedding__characters=None)
    task = recipe.make_task()
    word_list = WordList.collect([tuple("abcdefgh")], None, most=0)
    model = build_model(task, recipe.embedding, LABELS, word_list=word_list, word_dim=12, model=None).eval()
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.8)
    return TrainedTask(name="ner", recipe=recipe, task=task, labels=LABELS, model=model)


def every_path(trained: TrainedTask, words: tuple[str, ...]) -> dict[tuple[str, ...], float]:
    """The probability of each sequence of learned tags."""
    model = trained.model
    assert isinstance(model, Tagger)
    data = Dataset(trained.recipe.make_task(), [Example((Text(words),))], trained.embedding)
    with torch.no_grad():
        emissions, chain = model._emissions(data.batch(np.array([0])))[0].double(), model._chain()
    scores = {}
    for path in itertools.product(range(len(LABELS)), repeat=len(words)):
        score = chain.start[path[0]] + chain.end[path[-1]] + sum(emissions[t, y] for t, y in enumerate(path))
        score = score + sum(chain.transitions[a, b] for a, b in itertools.pairwise(path))
        scores[tuple(LABELS[n] for n in path)] = math.exp(float(score))
    total = sum(scores.values())
    return {path: score / total for path, score in scores.items()}


@pytest.mark.parametrize("words", ["abcd", "hgf", "a", "eeba"])
def test_probabilities_of_tags_and_chunks_are_sums_over_every_path(words: str, trained: TrainedTask) -> None:
    (found,) = trained.report([Example((Text(tuple(words)),))])
    (sentence,) = found["sentences"]
    (tags,) = trained.predict([Example((Text(tuple(words)),))])
    assert tuple(token["tag"] for token in sentence["tokens"]) == tags
    paths = every_path(trained, tuple(words))
    for n, token in enumerate(sentence["tokens"]):
        as_given = {"B": "BS", "I": "IE", "O": "O"}[token["tag"][0]]
        expected = sum(share for path, share in paths.items() if path[n][0] in as_given)
        assert token["probability"] == pytest.approx(expected, abs=2e-6)
    assert [(s["start"] // 2, (s["end"] + 1) // 2, s["label"]) for s in sentence["spans"]] == find_spans(tags)
    for span in sentence["spans"]:
        wanted = Span(span["start"] // 2, (span["end"] + 1) // 2, span["label"])
        expected = sum(share for path, share in paths.items() if wanted in find_spans(path))
        assert span["probability"] == pytest.approx(expected, abs=2e-6)


def test_a_line_of_raw_text_is_one_object_with_each_of_its_sentences(trained: TrainedTask, tmp_path: Path) -> None:
    text = "Anna  didn’t come. “Tom” did!\n\n \nWell.\nWell."
    (tmp_path / "raw.txt").write_text(text, encoding="utf-8")
    questions = trained.recipe.make_task().read_questions(str(tmp_path / "raw.txt"), Tokenizer())
    found = trained.report(questions)
    assert [values["line"] for values in found] == [1, 2, 3, 4, 5]
    assert [values["text"] for values in found] == text.split("\n")
    assert [len(values["sentences"]) for values in found] == [2, 0, 0, 1, 1]
    for values in found:
        for sentence in values["sentences"]:
            for part in [*sentence["tokens"], *sentence["spans"]]:
                assert values["text"][part["start"] : part["end"]] == part["text"]
                assert 0 <= part["probability"] <= 1
            assert sentence["start"] == sentence["tokens"][0]["start"]
            assert sentence["end"] == sentence["tokens"][-1]["end"]
    assert [s["tokens"][-1]["text"] for s in found[0]["sentences"]] == [".", "!"]


def test_sentences_of_a_column_file_are_objects_with_their_first_line(trained: TrainedTask, tmp_path: Path) -> None:
    (tmp_path / "columns.txt").write_text("Anna\ncame\n\nAnna\ncame\n", encoding="utf-8")
    task: Any = trained.recipe.make_task()
    found = trained.report(task.read_questions(str(tmp_path / "columns.txt"), None))
    assert [(values["line"], values["text"]) for values in found] == [(1, "Anna came"), (4, "Anna came")]
