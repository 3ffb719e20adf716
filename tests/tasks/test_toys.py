"""The ground under tasks that are still to come: two texts, documents of sentences, windows, integers given."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.tasks.conftest import SMALL
from tests.tasks.toys import DOCUMENTS, PAIRS, FindConfig, PairConfig

from elmo.embed.module import Elmo
from elmo.errors import InputError
from elmo.tasks import RECIPES, Example, Recipe, Text, load_trained_task, train_task
from elmo.tasks.embedding.texts import TextTable
from elmo.tasks.training import trained as answering
from elmo.weights.loaded import LoadedModel


def recipe(monkeypatch: pytest.MonkeyPatch, config: Any, **changes: Any) -> Recipe:
    made = replace(RECIPES["ner"], task=config)
    monkeypatch.setitem(RECIPES, config.kind, made)
    dotted = {name.replace("__", "."): value for name, value in changes.items()}
    return made.changed({**SMALL, "embedding.elmo.dropout": 0.0, "train.epochs": 40, **dotted})


@pytest.mark.parametrize("train_bilm", [False, True])
@pytest.mark.parametrize(
    ("config", "examples"), [(PairConfig(), PAIRS), (FindConfig(), DOCUMENTS)], ids=["pair", "find"]
)
def test_a_toy_is_learned_by_heart_saved_and_loaded(
    config: Any, examples: list[Example], train_bilm: bool, model: LoadedModel, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    made = recipe(monkeypatch, config, embedding__elmo__train_bilm=train_bilm)
    result = train_task(config.kind, made, examples, examples, tmp_path / "run", model=model, device="cpu")
    assert result.scores == {"accuracy": 100.0}
    assert result.trained is not None
    loaded = load_trained_task(tmp_path / "run", device="cpu")
    assert loaded.predict(examples) == [example.answer for example in examples]
    assert [values["answer"] for values in loaded.report(examples)] == [example.answer for example in examples]
    assert loaded.predict(examples[:1]) == [examples[0].answer]
    empty = replace(examples[0], texts=(Text(()),) * loaded.task.texts)
    assert loaded.predict([empty, examples[1]]) == [None, examples[1].answer]


def test_an_example_with_another_number_of_texts_is_named(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = recipe(monkeypatch, PairConfig(), train__epochs=1)
    one = replace(PAIRS[2], texts=PAIRS[2].texts[:1])
    for train, dev in (([*PAIRS[:2], one], PAIRS), (PAIRS, [*PAIRS[:2], one]), ([one, *PAIRS], PAIRS)):
        with pytest.raises(InputError, match=r"pair 2: example \d has 1 text\(s\), but this task reads 2"):
            train_task("pair", made, train, dev, tmp_path / "run", model=model, device="cpu", resume=True)
    trained = train_task("pair", made, PAIRS, PAIRS, tmp_path / "fine", model=model, device="cpu").trained
    assert trained is not None
    with pytest.raises(InputError, match="pair 2: example 2 has 1 text"):
        trained.predict([PAIRS[0], one])


def test_questions_are_asked_in_batches_of_so_many_positions(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = recipe(monkeypatch, FindConfig(window=99), train__epochs=3)
    trained = train_task("find", made, DOCUMENTS, DOCUMENTS, tmp_path / "run", model=model, device="cpu").trained
    assert trained is not None
    together = trained.predict(DOCUMENTS)
    shapes = []
    answers = trained.model.answers
    monkeypatch.setattr(answering, "MOST_POSITIONS", 45)
    monkeypatch.setattr(trained.model, "answers", lambda b: shapes.append(tuple(b.texts[0].mask.shape)) or answers(b))
    assert trained.predict(DOCUMENTS) == together
    assert len(shapes) > 1
    assert all(N * T <= 45 for N, T in shapes)


def test_documents_and_their_windows_share_the_layers_of_their_sentences(model: LoadedModel) -> None:
    whole = Text.of_sentences([("a", "b"), ("c",), ("d", "e", "f"), ("c",)])
    texts = [whole, whole.part(1, 3), Text(("c",)), whole.part(0, 1)]
    elmo = Elmo(model).eval()
    table = TextTable(texts, word_list=None, elmo=elmo, device=elmo.device)
    assert table.sentences == [("a", "b"), ("c",), ("d", "e", "f")]
    batch = table.batch(table.numbers(texts))
    assert batch.lengths.tolist() == [7, 4, 1, 2]
    assert batch.layers is not None
    layers = batch.layers  # [L, N, T, D]
    assert layers[:, 1, :4].equal(layers[:, 0, 2:6])
    assert layers[:, 0, 6].equal(layers[:, 0, 2])  # the same sentence again
    alone, _ = elmo.layers([("d", "e", "f")])
    assert (layers[:, 0, 3:6] - alone[:, 0]).abs().max() < 2e-3


@pytest.mark.parametrize("ends", [(1,), (2, 1, 3), (0, 3), (1, 1, 3), (4,)])
def test_sentences_must_end_where_there_are_tokens(ends: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="sentences end at"):
        Text(("a", "b", "c"), ends)
