"""`elmo task`: train, evaluate, predict, wsd and probe on the samples, as a user types them."""

import json
import os
import signal
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.apps.cli.conftest import Command

from elmo.tasks.names import TaskName
from elmo.tasks.recipes import RECIPES
from elmo.tasks.training.learner import Learner

SAMPLES = Path(__file__).parent.parent.parent / "tasks" / "samples"
SMALL = ["--set", "task.model.hidden=8", "--set", "embedding.words.dim=8", "--epochs", "2", "--device", "cpu"]


def test_the_command_line_knows_every_task() -> None:
    assert get_args(TaskName) == tuple(RECIPES)


def train_ner(command: Command, model: Path, run: Path, *options: object) -> None:
    files = ("--train", SAMPLES / "ner-train.txt", "--dev", SAMPLES / "ner-dev.txt")
    done = command("task", "train", "ner", *files, "--model", model, "-o", run, *SMALL, *options)
    assert done.code == 0, done.err


def test_train_tells_scores_mixes_and_where_the_model_is(command: Command, model: Path, tmp_path: Path) -> None:
    done = command(
        "task", "train", "ner", "--train", SAMPLES / "ner-train.txt", "--dev", SAMPLES / "ner-dev.txt",
        "--test", SAMPLES / "ner-dev.txt", "--model", model, "--elmo", "both", "-o", tmp_path / "run", *SMALL,
    )  # fmt: skip
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("finished after 2 epochs")
    assert lines[1].startswith("dev: f1 ")
    assert lines[2].startswith("test: f1 ")
    assert [line.split(":")[0] for line in lines[3:5]] == ["mix at the input", "mix at the output"]
    assert lines[-1] == f"the model is {tmp_path / 'run' / 'model'}"


def test_evaluate_and_predict_use_the_run(command: Command, model: Path, tmp_path: Path) -> None:
    train_ner(command, model, tmp_path / "run")
    scores = json.loads(command("task", "evaluate", tmp_path / "run", SAMPLES / "ner-dev.txt", "--json").out)
    assert 0 <= scores["f1"] <= 100
    assert set(scores["labels"]["PER"]) == {"precision", "recall", "f1", "wanted", "given"}
    plain = command("task", "evaluate", tmp_path / "run", SAMPLES / "ner-dev.txt").out.splitlines()
    assert plain[0].startswith("f1 ")
    assert plain[1].split() == ["label", "precision", "recall", "f1", "wanted", "given"]
    done = command("task", "predict", tmp_path / "run", SAMPLES / "ner-dev.txt", "-o", tmp_path / "out.txt")
    assert done.code == 0, done.err
    lines = (tmp_path / "out.txt").read_text("utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines[:2]] == ["Tom", "likes"]
    again = command("task", "predict", tmp_path / "run", SAMPLES / "ner-dev.txt", "-o", tmp_path / "out.txt")
    assert again.code == 2
    assert "exists already" in again.err


def test_predict_tokenizes_raw_text(command: Command, model: Path, tmp_path: Path) -> None:
    train_ner(command, model, tmp_path / "run")
    (tmp_path / "raw.txt").write_text("Anna didn't come.\n\nTom did.\n", encoding="utf-8")
    done = command("task", "predict", tmp_path / "run", tmp_path / "raw.txt", "--text")
    assert [line.split("\t")[0] for line in done.out.splitlines()] == [
        "Anna", "did", "n't", "come", ".", "", "", "Tom", "did", ".", "",
    ]  # fmt: skip


def test_predict_reads_the_sentences_of_a_line_one_by_one_and_keeps_lines_apart(
    command: Command, model: Path, tmp_path: Path
) -> None:
    train_ner(command, model, tmp_path / "run")
    (tmp_path / "raw.txt").write_text("We flew to Lisbon. Tom slept.\nAnna too.\n", encoding="utf-8")
    (tmp_path / "apart.txt").write_text("We flew to Lisbon.\nTom slept.\nAnna too.\n", encoding="utf-8")
    apart = command("task", "predict", tmp_path / "run", tmp_path / "apart.txt", "--text").out.split("\n\n")
    done = command("task", "predict", tmp_path / "run", tmp_path / "raw.txt", "--text")
    assert done.out.split("\n\n") == [f"{apart[0]}\n{apart[1]}", *apart[2:]]
    assert "Lisbon\t" in done.out
    whole = command("task", "predict", tmp_path / "run", tmp_path / "raw.txt", "--text", "--no-split-sentences")
    assert "Lisbon.\t" in whole.out


def test_predict_gives_probabilities_and_places_as_json(command: Command, model: Path, tmp_path: Path) -> None:
    train_ner(command, model, tmp_path / "run")
    text = "Anna didn't come. Tom did."
    (tmp_path / "raw.txt").write_text(f"{text}\n\n", encoding="utf-8")
    done = command("task", "predict", tmp_path / "run", tmp_path / "raw.txt", "--text", "--json")
    assert done.code == 0, done.err
    first, second = map(json.loads, done.out.splitlines())
    assert (first["line"], first["text"], len(first["sentences"])) == (1, text, 2)
    assert second == {"line": 2, "text": "", "sentences": []}
    tokens = [token for sentence in first["sentences"] for token in sentence["tokens"]]
    assert [text[token["start"] : token["end"]] for token in tokens] == [token["text"] for token in tokens]


def test_without_a_model_it_is_the_packaged_one_under_its_name(command: Command, tmp_path: Path) -> None:
    files = ("--train", SAMPLES / "ner-train.txt", "--dev", SAMPLES / "ner-dev.txt")
    done = command("task", "train", "ner", *files, "-o", tmp_path / "run", *SMALL)
    assert done.code == 0, done.err
    assert "mix at the input" in done.out
    assert json.loads((tmp_path / "run" / "model" / "task.json").read_text("utf-8"))["bilm"]["source"] == "english"
    assert command("task", "evaluate", tmp_path / "run", SAMPLES / "ner-dev.txt").code == 0


def test_a_baseline_needs_no_model(command: Command, tmp_path: Path) -> None:
    done = command(
        "task", "train", "classification", "--train", SAMPLES / "reviews-train.tsv",
        "--dev", SAMPLES / "reviews-dev.tsv",
        "-o", tmp_path / "run", "--epochs", "1", "--set", "task.model.hidden=8", "--device", "cpu", "--elmo", "none",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert json.loads((tmp_path / "run" / "model" / "task.json").read_text("utf-8"))["bilm"] is None
    done = command("task", "predict", tmp_path / "run", SAMPLES / "reviews-dev.tsv")
    assert all(line.split("\t")[0] in ("positive", "negative") for line in done.out.splitlines())
    (tmp_path / "raw.txt").write_text("It was fine.\n\n  \nIt was not.\n", encoding="utf-8")
    done = command("task", "predict", tmp_path / "run", tmp_path / "raw.txt", "--text", "--json")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [values["text"] for values in found] == ["It was fine.", "", "  ", "It was not."]
    assert found[1]["label"] is None
    for values in (found[0], found[3]):
        assert sum(values["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert values["probability"] == max(values["probabilities"].values())
        assert values["probabilities"][values["label"]] == values["probability"]
    done = command("task", "evaluate", tmp_path / "run", SAMPLES / "reviews-dev.tsv", "--json")
    assert set(json.loads(done.out)["confusion"]) == {"negative", "positive"}
    done = command("task", "predict", tmp_path / "run", tmp_path / "raw.txt", "--text")
    assert [line.partition("\t")[2] for line in done.out.splitlines()] == ["It was fine.", "", "", "It was not."]


def test_a_stopped_run_says_how_to_go_on(command: Command, model: Path, tmp_path: Path) -> None:
    files = ("--train", SAMPLES / "ner-train.txt", "--dev", SAMPLES / "ner-dev.txt")
    arguments = ("task", "train", "ner", *files, "--model", model, "-o", tmp_path / "run", *SMALL)
    done = command(*arguments, "--time-limit", "0")
    assert "time limit after 0 epochs; go on with: elmo task train ner" in done.out
    assert done.code == 0
    assert command(*arguments, "--resume").code == 0


def test_an_interrupted_run_exits_as_a_shell_has_it(
    command: Command, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Learner.step

    def interrupting(self: Any, rows: Any, number: int) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return step(self, rows, number)

    monkeypatch.setattr(Learner, "step", interrupting)
    files = ("--train", SAMPLES / "ner-train.txt", "--dev", SAMPLES / "ner-dev.txt")
    done = command("task", "train", "ner", *files, "--model", model, "-o", tmp_path / "run", *SMALL)
    assert done.code == 130
    assert "interrupted after 1 epochs; go on with: elmo task train ner" in done.out


def test_a_cache_keeps_no_more_than_its_limit(command: Command, model: Path, tmp_path: Path) -> None:
    train_ner(command, model, tmp_path / "a", "--cache", tmp_path / "cache")
    kept = sorted(path.stat().st_size for path in (tmp_path / "cache").glob("*.npy"))
    assert len(kept) == 2  # of the training texts and of dev
    train_ner(command, model, tmp_path / "b", "--cache", tmp_path / "small", "--cache-limit", kept[-1] / 1e9)
    assert len(list((tmp_path / "small").glob("*.npy"))) == 1
    train_ner(command, model, tmp_path / "c", "--cache", tmp_path / "none", "--cache-limit", 0)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--set", "train.speed=1"], "unknown key 'speed'"),
        (["--set", "train.learning_rate=fast"], "train.learning_rate"),
        (["--set", "nonsense"], "NAME=VALUE"),
        (["--fraction", "2"], "train.fraction is 2"),
        (["--vectors", "nowhere.txt"], "nowhere.txt"),
        (["--train", "nowhere.txt"], "nowhere.txt"),
        (["--test", "nowhere.txt"], "nowhere.txt"),
        (["--device", "abacus"], "device is 'abacus'"),
    ],
)
def test_a_mistake_is_one_line_with_code_2(options: list[str], problem: str, command: Command, tmp_path: Path) -> None:
    files = ("--train", SAMPLES / "ner-train.txt", "--dev", SAMPLES / "ner-dev.txt")
    done = command("task", "train", "ner", *files, "-o", tmp_path / "run", *options)
    assert done.code == 2
    assert problem in done.err
    assert done.err.count("\n") == 1


def test_options_can_come_from_a_file(command: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text("[task.model]\nhidden = 6\n[train]\nepochs = 1\n", encoding="utf-8")
    files = ("--train", SAMPLES / "ner-train.txt", "--dev", SAMPLES / "ner-dev.txt")
    done = command("task", "train", "ner", *files, "-o", tmp_path / "run", "--config", tmp_path / "small.toml")
    assert done.code == 0, done.err
    saved = json.loads((tmp_path / "run" / "model" / "task.json").read_text("utf-8"))
    assert saved["recipe"]["task"]["model"]["hidden"] == 6


def test_a_folder_that_is_no_task_is_refused(command: Command, model: Path) -> None:
    done = command("task", "predict", model, SAMPLES / "ner-dev.txt")
    assert done.code == 2
    assert "is not a trained task" in done.err


def test_wsd_and_probe_have_a_row_for_each_test_set_and_layer(command: Command, model: Path) -> None:
    done = command(
        "task", "wsd", "--train", SAMPLES / "senses-train.data.xml", "--index-sense", SAMPLES / "index.sense",
        "--model", model, SAMPLES / "senses-test.data.xml", "--device", "cpu",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert [line.split()[0] for line in done.out.splitlines()] == ["F1", "senses-test"]
    done = command(
        "task", "probe", "--train", SAMPLES / "pos-train.conllu", "--dev", SAMPLES / "pos-dev.conllu", "--model", model,
        "--test", SAMPLES / "pos-dev.conllu", "--epochs", "2", "--device", "cpu",
    )  # fmt: skip
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["layer 0", "layer 1", "layer 2"]


def test_a_question_is_answered_with_a_confidence_and_a_place(command: Command, model: Path, tmp_path: Path) -> None:
    files = ("--train", SAMPLES / "questions-train.json", "--dev", SAMPLES / "questions-dev.json")
    done = command("task", "train", "questions", *files, "--model", model, "-o", tmp_path / "run", *SMALL)
    assert done.code == 0, done.err
    assert done.out.splitlines()[1].startswith("dev: f1 ")
    text = "The ferry was built in Lindow.\n\nOtto Brandt drew it in 1931. It carries forty cars."
    (tmp_path / "article.txt").write_text(f"{text}\n", encoding="utf-8")
    asked = ("task", "predict", tmp_path / "run", "--text", tmp_path / "article.txt", "--question", "Who drew it?")
    (best,) = command(*asked).out.splitlines()
    three = command(*asked, "-n", "3").out.splitlines()
    assert len(three) == 3
    assert three[0] == best
    probabilities = []
    for line in three:
        answer, probability, start, end = line.split("\t")
        assert " ".join(text[int(start) : int(end)].split()) == answer
        probabilities.append(float(probability))
    assert probabilities == sorted(probabilities, reverse=True)
    two = command(*asked, "--question", "When?", "-n", "2").out.splitlines()
    assert two[:3] == [*three[:2], ""]
    assert len(two) == 5
    (told,) = map(json.loads, command(*asked, "--json", "-n", "2").out.splitlines())
    assert told["question"] == "Who drew it?"
    words = [" ".join(answer["text"].split()) for answer in told["answers"]]
    assert words == [line.split("\t")[0] for line in three[:2]]
    done = command("task", "predict", tmp_path / "run", "--text", tmp_path / "article.txt")
    assert done.code == 2
    assert "no question is asked about it: --question" in done.err


def test_files_of_questions_are_answered_and_scored_by_kind(command: Command, model: Path, tmp_path: Path) -> None:
    files = ("--train", SAMPLES / "questions-train.json", "--dev", SAMPLES / "questions-dev.json")
    command("task", "train", "questions", *files, "--model", model, "-o", tmp_path / "run", *SMALL)
    lines = command("task", "evaluate", tmp_path / "run", SAMPLES / "questions-dev.json").out.splitlines()
    assert lines[0].startswith("f1 ")
    assert [line.split()[0] for line in lines[1:]] == ["kind", "how", "when", "who"]
    assert lines[1].split()[1:] == ["f1", "exact_match", "questions"]
    found = json.loads(command("task", "evaluate", tmp_path / "run", SAMPLES / "questions-dev.json", "--json").out)
    assert set(found) == {"f1", "exact_match", "groups"}
    written = json.loads(command("task", "predict", tmp_path / "run", SAMPLES / "questions-dev.json").out)
    assert len(written["data"][0]["paragraphs"][0]["qas"]) == 3


def test_questions_are_refused_by_other_tasks(command: Command, model: Path, tmp_path: Path) -> None:
    train_ner(command, model, tmp_path / "run")
    done = command("task", "predict", tmp_path / "run", SAMPLES / "ner-dev.txt", "--question", "Who?")
    assert done.code == 2
    assert "this task answers no questions" in done.err


def test_predict_marks_names_in_one_html_file(command: Command, model: Path, tmp_path: Path) -> None:
    train_ner(command, model, tmp_path / "run")
    (tmp_path / "raw.txt").write_text("Anna & Tom <came>.\n", encoding="utf-8")
    page = tmp_path / "page.html"
    done = command("task", "predict", tmp_path / "run", tmp_path / "raw.txt", "--text", "--html", "-o", page)
    assert done.code == 0, done.err
    text = page.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "<title>raw.txt</title>" in text
    assert "&lt;came&gt;" in text
    done = command("task", "predict", tmp_path / "run", tmp_path / "raw.txt", "--text", "--html", "--json")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--json and --html are both given" in done.err
