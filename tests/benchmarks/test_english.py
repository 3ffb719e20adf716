"""The battery measures every part, never twice, says what it leaves out, and compares with the first model."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from benchmarks.english import __main__ as battery
from benchmarks.english import units
from benchmarks.english.table import make_table
from tests.tiny import TINY, make_bilm

from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.softmax import Softmax
from elmo.weights.softmaxfile import write_softmax

SAMPLES = Path(__file__).parent.parent / "tasks" / "samples"
WORDS = ("<S>", "</S>", "<UNK>", "the", "river", "bank", ".")
TINY_NER = ["--set", "task.model.hidden=6", "--set", "embedding.words.dim=6", "--set", "train.epochs=1"]


def language_model(seed: int) -> LoadedModel:
    weight = torch.randn(len(WORDS), TINY.lstm.output_dim, generator=torch.Generator().manual_seed(seed))
    softmax = Softmax(weight, torch.zeros(len(WORDS)))
    return LoadedModel(bilm=make_bilm(seed=seed), tokenizer=Tokenizer(), vocabulary=Vocabulary(WORDS), softmax=softmax)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("battery")
    for seed, name in enumerate(("before", "after")):
        write_model(language_model(seed), folder / name)
    bare = language_model(2).replace(softmax=None)
    write_model(bare, folder / "bare")
    write_softmax(language_model(2), folder / "softmax.safetensors")
    data = folder / "data"
    data.mkdir()
    (data / "english_heldout.txt").write_text("The river bank. It is far.\n", encoding="utf-8")
    (data / "english_heldout_new.txt").write_text("A bank far away. It is new.\n", encoding="utf-8")
    for name in ("lm1b_heldout_dev.tokens", "wikitext103_valid.txt", "ptb.valid.txt"):
        (data / name).write_text("the river bank .\nthe bank .\n", encoding="utf-8")
    for target, source in [
        (units.SEMCOR, "senses-train"),
        *((test, "senses-test") for test in units.SENSE_TESTS),
    ]:
        for suffix in (".data.xml", ".gold.key.txt"):
            path = data / target.replace(".data.xml", suffix)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SAMPLES / f"{source}{suffix}", path)
    for target, source in [
        (units.INDEX_SENSE, "index.sense"),
        *zip(units.EWT, ("pos-train.conllu", "pos-dev.conllu", "pos-dev.conllu"), strict=True),
        *zip(units.CONLL, ("ner-train.txt", "ner-dev.txt", "ner-dev.txt"), strict=True),
    ]:
        (data / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SAMPLES / source, data / target)
    return folder


def call(folder: Path, tmp_path: Path, *more: str) -> None:
    options = ["--data", str(folder / "data"), "-o", str(tmp_path / "results.jsonl"), "--device", "cpu"]
    battery.main([*more, *options, "--cache", str(tmp_path / "cache"), *TINY_NER])


def test_every_part_is_measured_once_and_told_beside_the_first_model(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [str(folder / "before"), str(folder / "after")]
    call(folder, tmp_path, models[0], "--seeds", "2", "1")
    call(folder, tmp_path, *models, "--seeds", "2", "1")
    printed = capsys.readouterr().out
    assert "12 units, 12 to be measured" in printed
    assert "24 units, 12 to be measured" in printed
    lines = battery.read_lines(tmp_path / "results.jsonl")
    assert {line["part"] for line in lines} == set(units.PARTS)
    assert len({line["key"] for line in lines}) == len(lines) == 24
    rows = [row.split(" | ") for row in printed.split("\n\n")[-2].splitlines()]
    assert [row[0] for row in rows[2:]] == [
        "| senses (first), LSTM 1, %",
        "| senses (first), LSTM 2, %",
        "| senses (first), mean of the layers, %",
        "| senses (open), LSTM 1, %",
        "| senses (open), LSTM 2, %",
        "| senses (open), mean of the layers, %",
        "| perplexity, held-out",
        "| perplexity, held-out, new texts",
        "| perplexity, lm1b",
        "| perplexity, WikiText-103",
        "| perplexity, Penn Treebank",
        "| POS probe, tokens, %",
        "| POS probe, LSTM 1, %",
        "| POS probe, LSTM 2, %",
        "| word senses, LSTM 1, F1",
        "| word senses, LSTM 2, F1",
        "| word senses, mean of the layers, F1",
        "| NER, 10% of the data, F1",
        "| NER, 100% of the data, F1",
    ]
    assert all("(" in row[2] for row in rows[2:])  # each figure is there, with its difference
    assert "±" in next(row for row in rows if row[0].startswith("| NER, 10%"))[1]

    def refuse(unit: units.Unit) -> None:
        raise AssertionError(unit)

    monkeypatch.setattr(battery, "measure", refuse)
    call(folder, tmp_path, *models, "--seeds", "2", "1")
    assert "24 units, 0 to be measured" in capsys.readouterr().out


def test_a_model_without_softmax_has_no_perplexity_until_it_is_given_one(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = [str(folder / "before"), str(folder / "bare")]
    call(folder, tmp_path, *models, "--parts", "perplexity")
    printed = capsys.readouterr().out
    assert "bare has no softmax; --softmax names a file with one." in printed
    assert next(row for row in printed.splitlines() if row.startswith("| perplexity, lm1b |")).endswith(" | – |")
    call(
        folder,
        tmp_path,
        *models,
        "--parts",
        "perplexity",
        "--softmax",
        "-",
        "--softmax",
        f"{folder}/softmax.safetensors",
    )
    printed = capsys.readouterr().out
    assert "10 units, 5 to be measured" in printed
    assert "Left out" not in printed


def test_a_part_without_its_data_is_left_out_with_the_reason(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    battery.main(
        [str(folder / "before"), "--data", str(tmp_path), "-o", str(tmp_path / "r.jsonl"), "--parts", "pos", "senses"]
    )
    printed = capsys.readouterr().out
    assert f"Left out: {tmp_path / units.EWT[0]} is missing." in printed
    assert "2 of 2 units" in printed


def test_quick_results_are_never_taken_for_whole_ones(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = ("wsd", "pos", "perplexity", "ner10", "ner100", "--seeds", "1")
    call(folder, tmp_path, str(folder / "before"), "--parts", *parts, "--quick")
    assert "the figures mean nothing" in capsys.readouterr().out
    call(folder, tmp_path, str(folder / "before"), "--parts", *parts)
    assert "9 units, 9 to be measured" in capsys.readouterr().out


def test_interrupted_work_goes_on_after_a_line_that_was_cut_off(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = str(folder / "before")
    with pytest.raises(SystemExit, match="5 units are missing"):
        call(folder, tmp_path, before, "--parts", "perplexity", "--minutes", "0")
    call(folder, tmp_path, before, "--parts", "perplexity")
    path = tmp_path / "results.jsonl"
    path.write_text(path.read_text("utf-8")[:-20], encoding="utf-8")
    capsys.readouterr()
    call(folder, tmp_path, before, "--parts", "perplexity")
    assert "5 units, 1 to be measured" in capsys.readouterr().out
    assert len(battery.read_lines(path)) == 5


def test_units_beside_each_other_give_the_figures_of_one_after_the_other(folder: Path, tmp_path: Path) -> None:
    arguments = [str(folder / "before"), str(folder / "after"), "--parts", "perplexity", "wsd"]
    for name, jobs in (("one", "1"), ("two", "2")):
        (tmp_path / name).mkdir()
        call(folder, tmp_path / name, *arguments, "--jobs", jobs)
    one, two = (
        {line["key"]: line["figures"] for line in battery.read_lines(tmp_path / name / "results.jsonl")}
        for name in ("one", "two")
    )
    assert one.keys() == two.keys()
    for key, figures in one.items():
        assert figures == pytest.approx(two[key], rel=1e-5), key


def test_the_table_has_means_deviations_and_differences() -> None:
    def line(**figures: float) -> dict[str, object]:
        return {"figures": figures}

    table = make_table([("a", [line(x=1.0), line(x=3.0), line(y=5.0)]), ("b", [line(x=4.5)])])
    assert table.splitlines() == [
        "| | a | b |",
        "|---|---|---|",
        "| x | 2.00 ± 1.41 | 4.50 (+2.50) |",
        "| y | 5.00 | – |",
    ]


def test_more_softmax_files_than_models_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        call(folder, tmp_path, str(folder / "bare"), "--softmax", "-", "--softmax", "-")


def test_results_are_json_lines_that_name_model_and_machine(folder: Path, tmp_path: Path) -> None:
    call(folder, tmp_path, str(folder / "before"), "--parts", "senses")
    for text in (tmp_path / "results.jsonl").read_text("utf-8").splitlines():
        line = json.loads(text)
        assert line["device"] == "CPU"
        assert line["sha256"] in line["key"]
        assert {"model", "date", "seconds", "elmo", "torch"} <= line.keys()
