"""The trainer: seeds, exact resumption, early stopping, fractions, what is saved, and errors that help."""

import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe
from tests.tiny import make_bilm

from elmo.errors import ConfigError, ResumeError, WeightsError
from elmo.run.alone import alone_in
from elmo.run.metrics import read_metrics
from elmo.tasks.embedding.wordvectors import WordVectors
from elmo.tasks.recipes import Recipe
from elmo.tasks.training.checkpoint import TaskProgress
from elmo.tasks.training.directory import load_trained_task
from elmo.tasks.training.learner import Learner
from elmo.tasks.training.loop import TrainingLoop, TrainResult
from elmo.tasks.training.trainer import train_task
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel

SAMPLE = SAMPLES_OF_TASKS["ner"]
DROPOUT = {"task__model__dropout": 0.3, "embedding__elmo__dropout": 0.2}


def train(run: Path, model: LoadedModel | None, recipe: Recipe, **options: Any) -> TrainResult:
    task = recipe.make_task()
    examples, dev = task.read(str(SAMPLE.train)), task.read(str(SAMPLE.dev))
    return train_task("ner", recipe, examples, dev, run, model=model, device="cpu", **options)


def weights(run: Path) -> bytes:
    return (run / "model" / "model.safetensors").read_bytes()


def test_the_same_seed_gives_the_same_bits_and_another_does_not(model: LoadedModel, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(tmp_path / name, model, small_recipe(SAMPLE, train__epochs=3, train__seed=seed, **DROPOUT))
    assert weights(tmp_path / "a") == weights(tmp_path / "b") != weights(tmp_path / "c")


@pytest.mark.parametrize("stop_at", [1, 2, 3, 5])
def test_an_interrupted_run_goes_on_bit_for_bit(
    stop_at: int, model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = small_recipe(SAMPLE, train__epochs=3, train__schedule="linear", **DROPOUT)
    train(tmp_path / "straight", model, recipe)
    step, steps = Learner.step, []

    def interrupting(self: Any, rows: Any, number: int) -> torch.Tensor:
        steps.append(number)
        if len(steps) == stop_at:
            os.kill(os.getpid(), signal.SIGINT)
        return step(self, rows, number)

    monkeypatch.setattr(Learner, "step", interrupting)
    first = train(tmp_path / "broken", model, recipe)
    assert first.status == "interrupted"
    assert not first.done
    assert not (tmp_path / "broken" / "model").exists()
    second = train(tmp_path / "broken", model, recipe, resume=True)
    assert second.done
    assert steps == list(range(6))
    assert weights(tmp_path / "broken") == weights(tmp_path / "straight")
    assert not (tmp_path / "broken" / "checkpoint").exists()
    lines = [
        [(n["kind"], n["step"], n.get("loss")) for n in read_metrics(tmp_path / r)] for r in ("broken", "straight")
    ]
    assert lines[0] == lines[1]


def test_a_checkpoint_after_every_epoch_changes_nothing(model: LoadedModel, tmp_path: Path) -> None:
    for name, minutes in (("often", 0.0), ("never", 60.0)):
        train(
            tmp_path / name, model, small_recipe(SAMPLE, train__epochs=3, train__checkpoint_minutes=minutes, **DROPOUT)
        )
    assert weights(tmp_path / "often") == weights(tmp_path / "never")


def test_a_run_goes_on_only_as_it_was_begun(model: LoadedModel, tmp_path: Path) -> None:
    recipe = small_recipe(SAMPLE, train__epochs=2)
    assert train(tmp_path / "run", model, recipe, time_limit=0.0).status == "time limit"
    with pytest.raises(ResumeError, match="holds a run already"):
        train(tmp_path / "run", model, recipe)
    with pytest.raises(ResumeError, match=r"was begun otherwise: train\.learning_rate was 0\.02 and is 0\.5 now"):
        train(tmp_path / "run", model, small_recipe(SAMPLE, train__epochs=2, train__learning_rate=0.5), resume=True)
    assert train(tmp_path / "run", model, recipe, resume=True).done
    with pytest.raises(ResumeError, match=r"was begun otherwise: train\.epochs was 2 and is 3 now"):
        train(tmp_path / "run", model, small_recipe(SAMPLE, train__epochs=3), resume=True)


def test_a_run_recorded_under_former_names_goes_on(model: LoadedModel, tmp_path: Path) -> None:
    recipe = small_recipe(SAMPLE, train__epochs=2)
    assert train(tmp_path / "run", model, recipe, time_limit=0.0).status == "time limit"
    progress = tmp_path / "run" / "checkpoint" / "progress.json"
    values = json.loads(progress.read_text("utf-8"))
    recorded = values["identity"]["train"]
    recorded["rate"], recorded["batch"] = recorded.pop("learning_rate"), recorded.pop("batch_size")
    progress.write_text(json.dumps(values), "utf-8")
    with pytest.raises(ResumeError, match=r"train\.learning_rate was 0\.02 and is 0\.5 now"):
        train(tmp_path / "run", model, small_recipe(SAMPLE, train__epochs=2, train__learning_rate=0.5), resume=True)
    assert train(tmp_path / "run", model, recipe, resume=True).done


@pytest.mark.parametrize(
    "change",
    [
        {"epoch": 9},
        {"epoch": 0},
        {"best_epoch": None},
        {"best_epoch": 2},
        {"history": [{}]},
        {"history": [{"loss": 1.0, "seconds": 1.0, "scores": {}}]},
        {"history": [{"loss": 1.0, "seconds": 1.0, "scores": {"f1": "1"}}]},
    ],
)
def test_a_damaged_checkpoint_is_refused_before_anything_is_learned(
    change: dict[str, Any], model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = small_recipe(SAMPLE, train__epochs=2, train__checkpoint_minutes=0.0)
    with monkeypatch.context() as patched:
        patched.setattr(TrainingLoop, "_finish", lambda _: None)
        patched.setattr(TrainingLoop, "_is_out_of_patience", lambda loop: loop.progress.epoch == 1)
        train(tmp_path / "run", model, recipe)
    path = tmp_path / "run" / "checkpoint" / "progress.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change), encoding="utf-8")
    monkeypatch.setattr(Learner, "step", None)
    with pytest.raises(ResumeError, match=r"checkpoint.*(damaged|does not fit)"):
        train(tmp_path / "run", model, recipe, resume=True)


def test_half_a_state_of_the_optimizer_is_refused(model: LoadedModel) -> None:
    recipe = small_recipe(SAMPLE, train__epochs=2)
    task = recipe.make_task()
    examples = task.read(str(SAMPLE.train))
    options = {"model": model, "reference": None, "vectors": None, "device": torch.device("cpu"), "store": None}
    made = Learner("ner", recipe, task, examples, examples, **options)
    made.step(np.arange(2), 0)
    tensors = made.tensors()
    made.load(tensors, TaskProgress(identity=""))
    lost = next(name for name in tensors if name.startswith("adam.exp_avg_sq."))
    fresh = Learner("ner", recipe, task, examples, examples, **options)
    with pytest.raises(ResumeError, match=r"does not fit the model: .*the state of Adam"):
        fresh.load({name: tensor for name, tensor in tensors.items() if name != lost}, TaskProgress(identity=""))


def test_resuming_a_finished_run_gives_its_result_and_clears_what_is_left(model: LoadedModel, tmp_path: Path) -> None:
    recipe = small_recipe(SAMPLE, train__epochs=2, train__checkpoint_minutes=0.0)
    first = train(tmp_path / "run", model, recipe)
    files = sorted(tmp_path.rglob("*"))
    # Killed after the model was written, in the middle of removing the checkpoint.
    for left in ("checkpoint", ".checkpoint.previous", ".checkpoint.tmp-0123456789ab"):
        (tmp_path / "run" / left).mkdir()
        (tmp_path / "run" / left / "tensors.safetensors").touch()
    second = train(tmp_path / "run", model, recipe, resume=True)
    assert (second.status, second.scores, second.epochs) == (first.status, first.scores, first.epochs)
    assert second.trained is not None
    assert sorted(tmp_path.rglob("*")) == files


def test_a_run_ends_when_dev_no_longer_gains_and_keeps_the_best(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = iter([10.0, 30.0, 20.0, 30.0, 5.0, 99.0])
    monkeypatch.setattr(Learner, "score", lambda _: {"f1": next(scores)})
    result = train(tmp_path / "run", model, small_recipe(SAMPLE, train__epochs=6, train__patience=3))
    assert (result.status, result.epochs, result.best_epoch) == ("no longer improving", 5, 2)
    assert result.scores == {"f1": 30.0}


def test_the_best_weights_are_those_of_the_best_epoch(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = []

    def score(trainer: Any) -> dict[str, float]:
        states.append(trainer.model.start.detach().clone())
        return {"f1": [1.0, 9.0, 5.0][len(states) - 1]}

    monkeypatch.setattr(Learner, "score", score)
    result = train(tmp_path / "run", model, small_recipe(SAMPLE, train__epochs=3))
    assert result.trained is not None
    assert torch.equal(result.trained.model.start, states[1])
    assert not torch.equal(states[1], states[2])


def test_mix_weights_are_learned_saved_and_told(model: LoadedModel, tmp_path: Path) -> None:
    result = train(tmp_path / "run", model, small_recipe(SAMPLE, train__epochs=4, embedding__elmo__where="both"))
    saved = json.loads((tmp_path / "run" / "model" / "task.json").read_text("utf-8"))
    assert saved["mixes"].keys() == {"input", "output"}
    for mix in saved["mixes"].values():
        assert sum(mix["layers"]) == pytest.approx(1.0, abs=1e-5)
        assert mix["layers"] != pytest.approx([1 / 3] * 3, abs=1e-4)
    assert [line for line in read_metrics(tmp_path / "run") if line["kind"] == "mix"][-1]["epoch"] == 4
    assert result.trained is not None
    assert saved["bilm"] == {"sha256": model.sha256, "source": str(Path(model.source or "").resolve())}


def test_the_penalty_draws_the_mix_to_the_average(model: LoadedModel, tmp_path: Path) -> None:
    spread = []
    for penalty in (0.0, 100.0):
        recipe = small_recipe(SAMPLE, train__epochs=4, embedding__elmo__mix_l2=penalty)
        trained = train(tmp_path / str(penalty), model, recipe).trained
        assert trained is not None
        spread.append(max(abs(share - 1 / 3) for share in trained.embedding.mix_weights()["input"]["layers"]))
    assert spread[1] < spread[0] / 2


def test_a_fraction_is_a_part_of_a_larger_fraction() -> None:
    from elmo.tasks.training.batching import choose_fraction

    parts = [set(choose_fraction(200, share, seed=3).tolist()) for share in (0.01, 0.1, 1.0)]
    assert [len(part) for part in parts] == [2, 20, 200]
    assert parts[0] < parts[1] < parts[2]


def test_a_frozen_bilm_stays_and_a_trained_one_moves_a_copy(model: LoadedModel, tmp_path: Path) -> None:
    before = model.bilm.lstm.layers[0].bias.clone()
    frozen = train(tmp_path / "frozen", model, small_recipe(SAMPLE, train__epochs=1)).trained
    moved = train(
        tmp_path / "moved", model, small_recipe(SAMPLE, train__epochs=1, embedding__elmo__train_bilm=True)
    ).trained
    assert frozen is not None and moved is not None  # noqa: PT018
    assert torch.equal(model.bilm.lstm.layers[0].bias, before)
    assert not any("bilm" in name for name in frozen.model.state_dict())
    assert not torch.equal(moved.model.state_dict()["embedding.elmo.bilm.lstm.layers.0.bias"], before)


def test_a_task_model_brings_the_bilm_that_it_trained(model: LoadedModel, tmp_path: Path) -> None:
    write_model(model, tmp_path / "original")
    recipe = small_recipe(SAMPLE, train__epochs=2, embedding__elmo__train_bilm=True)
    moved = train(tmp_path / "run", read_model(tmp_path / "original"), recipe).trained
    assert moved is not None
    (tmp_path / "original").rename(tmp_path / "elsewhere")
    again = load_trained_task(tmp_path / "run", device="cpu")
    for name, tensor in moved.model.state_dict().items():
        assert torch.equal(tensor, again.model.state_dict()[name]), name
    examples = recipe.make_task().read(str(SAMPLE.dev))
    assert again.predict(examples) == moved.predict(examples)
    assert read_model(tmp_path / "run" / "model" / "bilm").sha256 != model.sha256


def test_a_missing_bilm_is_named_with_its_hash(model: LoadedModel, tmp_path: Path) -> None:
    write_model(model, tmp_path / "bilm")
    train(tmp_path / "run", read_model(str(tmp_path / "bilm")), small_recipe(SAMPLE, train__epochs=1))
    (tmp_path / "bilm").rename(tmp_path / "elsewhere")
    with pytest.raises(
        WeightsError, match=f"needs the biLM with the hash {model.sha256[:16]}.*{tmp_path}/bilm.*--model"
    ):
        load_trained_task(tmp_path / "run", device="cpu")
    load_trained_task(tmp_path / "run", model_path=tmp_path / "elsewhere", device="cpu")
    write_model(LoadedModel(bilm=make_bilm(seed=5), tokenizer=Tokenizer()), tmp_path / "other")
    with pytest.raises(WeightsError, match="has the hash"):
        load_trained_task(tmp_path / "run", model_path=tmp_path / "other", device="cpu")


@pytest.mark.parametrize("train_bilm", [False, True])
def test_a_baseline_needs_no_bilm(train_bilm: bool, tmp_path: Path) -> None:
    options = {"embedding__elmo__where": "none", "embedding__elmo__train_bilm": train_bilm}
    result = train(tmp_path / "run", None, small_recipe(SAMPLE, train__epochs=1, **options))
    assert result.trained is not None
    assert result.trained.embedding.mix_weights() == {}
    assert load_trained_task(tmp_path / "run", device="cpu").bilm_reference is None
    load_trained_task(tmp_path / "run", device="cpu")
    with pytest.raises(ConfigError, match="no biLM is given"):
        train(tmp_path / "other", None, small_recipe(SAMPLE, train__epochs=1))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("train__batch_size", 3),
        ("train__learning_rate", 0.001),
        ("train__schedule", "linear"),
        ("train__warmup", 0.5),
        ("train__weight_decay", 0.1),
        ("train__clip", 0.01),
        ("train__seed", 7),
        ("train__fraction", 0.5),
        ("embedding__elmo__where", "output"),
        ("embedding__elmo__layers", "top"),
        ("embedding__elmo__dropout", 0.4),
        ("embedding__elmo__mix_l2", 5.0),
        ("embedding__elmo__layer_norm", "token"),
        ("embedding__words__dim", 7),
        ("embedding__words", None),
        ("embedding__characters", None),
        ("embedding__characters__dim", 5),
        ("embedding__characters__filters", 5),
        ("embedding__characters__width", 2),
        ("task__model__dropout", 0.5),
        ("task__model__hidden", 7),
        ("task__model__layers", 2),
    ],
)
def test_every_option_changes_what_is_learned(name: str, value: Any, model: LoadedModel, tmp_path: Path) -> None:
    for run, changes in (("plain", {}), ("changed", {name: value})):
        train(tmp_path / run, model, small_recipe(SAMPLE, train__epochs=2, **changes))
    assert weights(tmp_path / "plain") != weights(tmp_path / "changed")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task__subphrases", True),
        ("train__batch_size", 3),
        ("task__model__hidden", 7),
        ("task__model__embedding_dropout", 0.5),
        ("task__model__encoder_dropout", 0.5),
        ("task__model__integrator_dropout", 0.5),
        ("task__model__maxout", (9,)),
        ("task__model__maxout_pool", 2),
        ("task__model__maxout_dropout", (0.5,)),
    ],
)
def test_every_option_of_the_classifier_changes_what_is_learned(name: str, value: Any, tmp_path: Path) -> None:
    sample = SAMPLES_OF_TASKS["classification"]
    for run, changes in (("plain", {}), ("changed", {name: value})):
        recipe = small_recipe(sample, train__epochs=1, embedding__elmo__where="none", **changes)
        task = recipe.make_task()
        examples, dev = task.read(str(sample.train)), task.read(str(sample.dev))
        train_task("classification", recipe, examples, dev, tmp_path / run, device="cpu")
    assert weights(tmp_path / "plain") != weights(tmp_path / "changed")


def test_variational_dropout_is_another_dropout(model: LoadedModel, tmp_path: Path) -> None:
    for variational in (True, False):
        recipe = small_recipe(SAMPLE, train__epochs=1, task__model__variational=variational, **DROPOUT)
        train(tmp_path / str(variational), model, recipe)
    assert weights(tmp_path / "True") != weights(tmp_path / "False")


def test_vectors_of_a_file_stay_where_they_shall_not_learn(tmp_path: Path) -> None:
    vectors = WordVectors(
        ["lisbon", "the", "rare", "unheard"], np.random.default_rng(0).normal(size=(4, 12)).astype(np.float32)
    )
    kept = {}
    for learn in (True, False):
        recipe = small_recipe(SAMPLE, train__epochs=2, embedding__elmo__where="none", embedding__words__train=learn,
                              embedding__words__most=1)  # fmt: skip
        trained = train(tmp_path / str(learn), None, recipe, vectors=vectors).trained
        assert trained is not None
        word_list, words = trained.embedding.word_list, trained.embedding.words
        assert word_list is not None and words is not None  # noqa: PT018
        assert word_list.rest == ["rare"]
        kept[learn] = words(
            torch.tensor([word_list.id_of("Lisbon"), word_list.id_of("rare"), word_list.id_of("moved")])
        )
        loaded = load_trained_task(tmp_path / str(learn), device="cpu")
        assert torch.equal(loaded.embedding.words.rest, words.rest)
    expected = torch.from_numpy(vectors.vectors).float()
    assert torch.allclose(kept[False][0], expected[0])
    assert not torch.allclose(kept[True][0], expected[0])
    assert torch.allclose(kept[True][1], expected[2])


def test_a_loss_that_is_no_number_ends_the_run_with_advice(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from elmo.errors import ElmoError

    monkeypatch.setattr(Learner, "step", lambda *_: torch.tensor(float("nan")))
    with pytest.raises(ElmoError, match=r"lower train\.learning_rate"):
        train(tmp_path / "run", model, small_recipe(SAMPLE, train__epochs=1))


def test_threads_that_share_a_trained_task_get_its_answers(model: LoadedModel, tmp_path: Path) -> None:
    write_model(model, tmp_path / "original")
    recipe = small_recipe(SAMPLE, train__epochs=1)
    train(tmp_path / "run", read_model(tmp_path / "original"), recipe)
    examples = recipe.make_task().read(str(SAMPLE.dev))
    wanted = load_trained_task(tmp_path / "run", device="cpu").predict(examples)
    shared, together = load_trained_task(tmp_path / "run", device="cpu"), threading.Barrier(4)

    def ask(first: int) -> list[Any]:
        together.wait()
        return [shared.predict([example])[0] for example in examples[first::4]]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(4)))
    assert found == [wanted[first::4] for first in range(4)]


def test_a_run_in_which_another_process_trains_is_left_alone(model: LoadedModel, tmp_path: Path) -> None:
    recipe = small_recipe(SAMPLE, train__epochs=1)
    with alone_in(tmp_path / "run"):
        for resume in (False, True):
            with pytest.raises(ResumeError, match="another process trains here"):
                train(tmp_path / "run", model, recipe, resume=resume)
    assert train(tmp_path / "run", model, recipe, resume=True).done
