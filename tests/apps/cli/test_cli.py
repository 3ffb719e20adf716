"""The command line: exit codes, one-line errors, help without torch, and each command on small files."""

import json
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from tests.apps.cli.conftest import Command
from tests.tiny import make_bilm

from elmo.embed.loading import load
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.published import packaged
from elmo.weights.softmax import Softmax

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "bilm"
TEXT = "I sat on the river bank .\n\nThe bank approved my loan .\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_embed_writes_what_encode_gives(command: Command, model: Path, text: Path, tmp_path: Path) -> None:
    done = command("embed", text, "-o", tmp_path / "out.hdf5", "--model", model, "--layers", "all")
    assert done.code == 0, done.err
    with h5py.File(tmp_path / "out.hdf5") as file:
        for n, vectors in enumerate(load(model, device="cpu").encode(TEXT.splitlines(), layers="all")):
            np.testing.assert_allclose(file[str(n)][...], vectors, atol=1e-5)


def test_embed_to_standard_output(command: Command, model: Path, text: Path) -> None:
    done = command("embed", text, "-o", "-", "--model", model, "--layers", "2", "--pooling", "max")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [len(row["vector"]) for row in rows] == [16, 16, 16]
    assert rows[1]["tokens"] == []
    assert command("embed", text, "-o", "-", "--model", model, "--layers", "-1", "--pooling", "max").out == done.out


def test_embed_reads_a_checkpoint_of_2018(command: Command, text: Path, tmp_path: Path) -> None:
    weights = GOLDEN / "skip2" / "weights.hdf5"
    done = command("embed", text, "-o", tmp_path / "out.npz", "--model", weights, "--tokenized", "--state", "carry")
    assert done.code == 0, done.err
    assert np.load(tmp_path / "out.npz")["2"].shape == (6, 12)


def test_similar_shows_a_cosine_for_each_layer(command: Command, model: Path) -> None:
    done = command("similar", "bank", "I sat on the river bank.", "The bank approved my loan.", "--model", model)
    lines = [line.split() for line in done.out.splitlines()]
    assert [line[1] for line in lines] == ["0", "1", "2"]
    assert float(lines[0][-1]) == pytest.approx(1.0)
    assert float(lines[2][-1]) < 0.999


def test_similar_names_a_word_that_is_not_there(command: Command, model: Path) -> None:
    done = command("similar", "bank", "No such word.", "The bank approved my loan.", "--model", model)
    assert (done.code, done.err) == (2, "elmo: 'bank' is not among the tokens 'No such word .'\n")


def test_info_tells_the_architecture(command: Command, model: Path) -> None:
    assert "LSTM layers" in command("info", model).out
    facts = json.loads(command("info", model, "--json").out)
    assert facts["parameters"] == sum(p.numel() for p in load(model, device="cpu").bilm.parameters())
    assert facts["parameters"] > 999
    assert f"  {facts['parameters']:,}\n" in command("info", model).out


def test_info_and_verify_take_the_packaged_model_if_none_is_named(command: Command) -> None:
    for name in ("info", "verify"):
        done = command(name)
        assert done.code == 0, done.err
        assert done.out == command(name, "english").out


def test_verify_accepts_a_sound_model_and_finds_a_damaged_one(command: Command, model: Path, tmp_path: Path) -> None:
    assert command("verify", model).code == 0
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in model.iterdir():
        (damaged / file.name).write_bytes(file.read_bytes())
    data = bytearray((damaged / "model.safetensors").read_bytes())
    data[-3] ^= 0x40
    (damaged / "model.safetensors").write_bytes(bytes(data))
    done = command("verify", damaged)
    assert done.code == 1
    assert "FAIL" in done.out
    assert done.err.startswith("elmo: ")
    assert f"checks failed: {damaged}: " in done.err
    assert done.err.count("\n") == 1


def test_verify_takes_a_corpus_store(command: Command, text: Path, tmp_path: Path) -> None:
    store = tmp_path / "corpus"
    assert command("corpus", "build", text, "-o", store, "--min-count", "1", "--workers", "1").code == 0
    done = command("verify", store)
    assert done.code == 0, done.err
    assert [line[:2] for line in done.out.splitlines()] == ["ok"] * 3
    data = bytearray((store / "train_tokens.npy").read_bytes())
    data[-1] ^= 1
    (store / "train_tokens.npy").write_bytes(bytes(data))
    done = command("verify", store)
    assert done.code == 1
    assert f"{store / 'train_tokens.npy'}: sha256 is" in done.err


@pytest.mark.parametrize("name", ["out.pt", "out.safetensors", "weights.hdf5"])
def test_a_model_is_not_converted_to_a_directory_with_the_name_of_a_file(
    command: Command, model: Path, tmp_path: Path, name: str
) -> None:
    done = command("convert", model, tmp_path / name)
    assert done.code == 2
    assert "looks like a file, but a model is a directory" in done.err
    assert not (tmp_path / name).exists()


def test_convert_there_and_back_changes_no_number(command: Command, tmp_path: Path) -> None:
    source = GOLDEN / "skip2"
    assert command("convert", source, tmp_path / "native").code == 0
    assert command("convert", tmp_path / "native", tmp_path / "back", "--to", "bilm-tf").code == 0
    with h5py.File(source / "weights.hdf5") as before, h5py.File(tmp_path / "back" / "weights.hdf5") as after:
        names: list[str] = []
        before.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        assert len(names) > 10
        for name in names:
            assert before[name][...].tobytes() == after[name][...].tobytes(), name


def test_convert_reads_a_token_cache(command: Command, tmp_path: Path) -> None:
    cache = GOLDEN.parent / "dumps" / "bilm"
    done = command(
        "convert",
        GOLDEN / "skip2",
        tmp_path / "words",
        "--embedding",
        cache / "token_embeddings.hdf5",
        "--vocabulary",
        cache / "vocab.txt",
    )
    assert done.code == 0, done.err
    assert json.loads(command("info", tmp_path / "words", "--json").out)["token input"].startswith("word")


def test_convert_keeps_what_stands_already(command: Command, tmp_path: Path) -> None:
    assert command("convert", GOLDEN / "skip2", tmp_path / "native").code == 0
    done = command("convert", GOLDEN / "plain1", tmp_path / "native")
    assert done.code == 2
    assert "exists already" in done.err
    assert command("convert", GOLDEN / "plain1", tmp_path / "native", "--overwrite").code == 0


def test_vocab_build_check_and_fix(command: Command, text: Path, tmp_path: Path) -> None:
    vocabulary = tmp_path / "vocab.txt"
    done = command("vocab", "build", text, "-o", vocabulary)
    assert "cover 100.00% of 13 tokens" in done.out
    assert vocabulary.read_text("utf-8").splitlines()[:5] == ["<S>", "</S>", "<UNK>", ".", "bank"]
    assert command("vocab", "check", vocabulary, "--text", text).code == 0
    vocabulary.write_text("<S>\n<UNK>\nbank\nbank\n", encoding="utf-8")
    done = command("vocab", "check", vocabulary)
    assert done.code == 1
    assert "</S>" in done.out
    assert command("vocab", "check", vocabulary, "--fix", tmp_path / "fixed.txt").code == 0
    assert (tmp_path / "fixed.txt").read_text("utf-8").splitlines() == ["<S>", "</S>", "<UNK>", "bank"]
    assert command("vocab", "build", text, "-o", vocabulary).code == 2


def test_convert_to_eight_bits_leaves_the_softmax_out_or_apart_and_commands_take_it_back(
    command: Command, text: Path, tmp_path: Path
) -> None:
    words = ("<S>", "</S>", "<UNK>", "bank", "the", ".")
    generator = torch.Generator().manual_seed(0)
    softmax = Softmax(torch.randn(len(words), 8, generator=generator), torch.zeros(len(words)))
    whole = LoadedModel(
        bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank"), vocabulary=Vocabulary(words), softmax=softmax
    )
    write_model(whole, tmp_path / "whole")
    expected = command("perplexity", text, "--model", tmp_path / "whole", "--state", "zero")
    assert expected.code == 0, expected.err

    done = command("convert", tmp_path / "whole", tmp_path / "bare", "--storage", "int8")
    assert "the softmax is left out" in done.out
    done = command("perplexity", text, "--model", tmp_path / "bare")
    assert done.code == 2
    assert "has no softmax" in done.err
    assert "--softmax" in done.err

    apart = tmp_path / "softmax.safetensors"
    assert (
        command("convert", tmp_path / "whole", tmp_path / "small", "--storage", "int8", "--softmax-to", apart).code == 0
    )
    assert command("score", text, "--model", tmp_path / "small", "--softmax", apart).code == 0
    done = command("perplexity", text, "--model", tmp_path / "small", "--state", "zero", "--softmax", apart)
    assert done.err == ""
    assert float(done.out.split()[0]) == pytest.approx(float(expected.out.split()[0]), rel=0.02)

    done = command("convert", tmp_path / "whole", tmp_path / "kept", "--storage", "float16", "--with-softmax")
    assert done.out == ""
    assert command("score", text, "--model", tmp_path / "kept").code == 0


def test_a_softmax_in_the_directory_is_found_by_every_command_and_kept(
    command: Command, text: Path, tmp_path: Path
) -> None:
    words = ("<S>", "</S>", "<UNK>", "bank", "the", ".")
    softmax = Softmax(torch.randn(len(words), 8, generator=torch.Generator().manual_seed(0)), torch.zeros(len(words)))
    tokenizer, vocabulary = Tokenizer(rule="treebank"), Vocabulary(words)
    write_model(
        LoadedModel(bilm=make_bilm(), tokenizer=tokenizer, vocabulary=vocabulary, softmax=softmax), tmp_path / "whole"
    )
    within = tmp_path / "small" / "softmax.safetensors"
    options = ["--storage", "int8", "--softmax-to", within, "--softmax-storage", "int4"]
    done = command("convert", tmp_path / "whole", tmp_path / "small", *options)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert command("score", text, "--model", tmp_path / "small").code == 0
    assert "softmax.safetensors, int4" in command("info", tmp_path / "small").out
    assert "softmax.safetensors was made for this biLM" in command("verify", tmp_path / "small").out
    assert command("convert", tmp_path / "small", tmp_path / "kept", "--with-softmax").code == 0
    assert command("verify", tmp_path / "kept").code == 0
    assert (tmp_path / "kept" / "softmax.safetensors").is_file()
    assert "the softmax is left out" in command("convert", tmp_path / "small", tmp_path / "bare").out
    assert not (tmp_path / "bare" / "softmax.safetensors").exists()
    other = command("convert", tmp_path / "whole", tmp_path / "x", "--softmax-storage", "int4")
    assert (other.code, "--softmax-to" in other.err) == (2, True)


def test_embedding_without_a_model_takes_the_packaged_one(
    command: Command, model: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packaged, "packaged_directory", lambda *_: model)
    assert command("embed", text, "-o", tmp_path / "out.npz").code == 0
    monkeypatch.setattr(packaged, "packaged_directory", lambda name="english": tmp_path / name)
    done = command("embed", text, "-o", tmp_path / "other.npz")
    assert (done.code, "comes without its model" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["embed", "nothing.txt", "-o", "out.npz", "-m", "{model}"], "nothing.txt"),
        (["embed", "{text}", "-o", "out.xyz", "-m", "{model}"], "cannot tell the format from '.xyz'"),
        (["embed", "{text}", "-o", "out.npz", "-m", "{model}", "--layers", "7"], "layers is 7"),
        (["embed", "{text}", "-o", "out.npz", "-m", "{model}", "--layers", "best"], "--layers is 'best'"),
        (["embed", "{text}", "-o", "no/such/folder/out.npz", "-m", "{model}"], "no/such/folder: is not a directory"),
        (["embed", "{text}", "-o", "out.npz", "-m", "no-such-model"], "no-such-model"),
        (["info", "no-such-model"], "no-such-model"),
        (["convert", "{text}", "out"], "text.txt"),
        (["embed", "{text}"], "Missing option '--output'"),
        (["nonsense"], "(elmo --help says more)"),
        (["models", "one", "two"], "Usage: elmo models"),
        (["embed", "{text}", "-o", "out.npz", "--batch-size", "-3"], "-3"),
        (["convert", "{text}", "out", "--to", "nothing"], "'--to': 'nothing' is not one of"),
    ],
)
def test_a_mistake_gets_one_line_and_exit_code_2(
    command: Command,
    model: Path,
    text: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    done = command(*(a.format(model=model, text=text) for a in arguments))
    assert done.code == 2, done.err
    assert message in done.err
    assert done.err.startswith("elmo: ")
    assert done.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_what_the_system_refuses_is_named_first(command: Command, text: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_text("Paul B-PER\nsleeps O\n", encoding="utf-8")
    done = command("task", "train", "ner", "--train", data, "--dev", data, "-o", text / "run", "--elmo", "none")
    assert (done.code, done.err) == (1, f"elmo: {text / 'run'}: Not a directory\n")


def test_text_that_is_not_utf8_is_named_with_its_line(command: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"fine\nbad \xff here\n")
    done = command("embed", tmp_path / "bad.txt", "-o", tmp_path / "out.npz", "-m", model)
    assert done.code == 2
    assert "bad.txt" in done.err
    assert "line 2" in done.err


def test_debug_shows_the_traceback(command: Command) -> None:
    done = command("--debug", "info", "no-such-model")
    assert "Traceback" in done.err


@pytest.mark.parametrize("arguments", [["--help"], ["embed", "--help"], ["vocab", "build", "--help"]])
def test_help_has_an_example_and_imports_no_torch(arguments: list[str]) -> None:
    code = f"import sys; from elmo.apps.cli import main; main({arguments}); sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert arguments == ["--help"] or "Example: elmo" in done.stdout


def test_no_arguments_show_the_help(command: Command) -> None:
    done = command()
    assert done.code == 2
    assert "Commands:" in done.out + done.err


def test_vocabulary_and_corpus_read_a_raw_text_alike(command: Command, tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_text("It didn't rain. They don't know.\n" * 30, encoding="utf-8")
    assert command("vocab", "build", raw, "-o", tmp_path / "vocab.txt").code == 0
    built = command("corpus", "build", raw, "-o", tmp_path / "corpus", "--min-count", "1", "--workers", "1")
    assert built.code == 0, built.err
    words = set((tmp_path / "vocab.txt").read_text("utf-8").split())
    assert {"did", "n't", "rain"} < words
    assert set((tmp_path / "corpus" / "vocab.txt").read_text("utf-8").split()) == words


def test_a_published_model_that_is_not_there_is_named_with_its_place_offline(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    monkeypatch.setenv("ELMO_OFFLINE", "")
    done = command("--offline", "info", "small")
    assert done.code == 2
    assert "https://" in done.err
    assert str(tmp_path) in done.err
    assert done.err.count("\n") == 1


def test_neighbors_searches_the_packaged_sentences_or_a_file(command: Command, model: Path, text: Path) -> None:
    query = ["neighbors", "bank", "We rowed to the far bank.", "--model", model, "--words", "same"]
    done = command(*query, "--count", "3")
    assert done.code == 0, done.err
    assert [line.count("[bank]") for line in done.out.splitlines()] == [1, 1, 1]
    rows = [json.loads(line) for line in command(*query, "--text", text, "--json").out.splitlines()]
    assert sorted(" ".join(row["tokens"]) for row in rows) == sorted(filter(None, TEXT.splitlines()))
    assert all(row["tokens"][row["place"]] == "bank" for row in rows)
    assert command(*query, "--layers", "all").code == 2


def test_neighbors_answers_several_questions_with_file_and_line(command: Command, model: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\nThe bank is shut. A bank lends.\nNo.\n", encoding="utf-8")
    questions = tmp_path / "questions.tsv"
    questions.write_text("bank\tWe saw a bank by the bank.\t2\n\nBank\tThe bank.\n", encoding="utf-8")
    asked = ["neighbors", "--questions", questions, "--text", text, "--model", model, "--words", "same"]
    done = command(*asked)
    assert done.code == 2
    assert f"{questions}: line 3: 'Bank' is not among the tokens 'The bank .'; 'bank' is" in done.err
    done = command(*asked, "--ignore-case")
    assert done.code == 0, done.err
    blocks = [block.splitlines() for block in done.out.split("\n\n")]
    assert [block[0] for block in blocks] == ["We saw a bank by the [bank] .", "The [bank] ."]
    for block in blocks:
        assert sorted(line.split("  ")[1] for line in block[1:]) == [f"{text}:2", f"{text}:2"]
    rows = [json.loads(line) for line in command(*asked, "--ignore-case", "--json").out.splitlines()]
    assert [(row["question"], row["line"], row["file"]) for row in rows] == [(n, 2, str(text)) for n in (1, 1, 2, 2)]
    assert rows[0]["asked"] == "We saw a bank by the [bank] ."


def test_neighbors_says_which_of_two_occurrences_it_takes(command: Command, model: Path, text: Path) -> None:
    query = ["neighbors", "bank", "A bank by a bank.", "--model", model, "--text", text, "--json"]
    first = command(*query)
    assert "'bank' occurs 2 times in 'A bank by a bank .'; the first is taken" in first.err
    chosen = command(*query, "--occurrence", "1")
    assert (chosen.out, chosen.err) == (first.out, "")
    assert json.loads(command(*query, "--occurrence", "2").out.splitlines()[0])["asked"] == "A bank by a [bank] ."
    refused = command(*query, "--occurrence", "3")
    assert refused.code == 2
    assert "there is no occurrence 3" in refused.err


@pytest.mark.parametrize("query", [["neighbors", "bank", "The bank."], ["plot", "bank", "-o", "bank.png"]])
def test_a_model_of_another_language_does_not_read_the_packaged_sentences(
    query: list[str], command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    for language in ("cs", None):
        tokenizer = Tokenizer(rule="unicode", language=language)
        write_model(LoadedModel(bilm=make_bilm(), tokenizer=tokenizer), tmp_path / str(language))
    done = command(*query, "--model", tmp_path / "cs")
    assert done.code == 2
    assert "the model's language is Czech, but the packaged sentences are English" in done.err
    done = command(*query, "--model", tmp_path / "None")
    assert done.code == 0, done.err
    assert "the packaged ones, which are English" in done.err


@pytest.mark.parametrize(
    ("content", "problem"),
    [("bank\n", "line 1 is not"), ("a\ta b\tx\n", "occurrence 'x'"), ("a\ta b\t0\n", "'0'"), ("\n", "no questions")],
)
def test_questions_that_are_none_are_refused(content: str, problem: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / "questions.tsv").write_text(content, encoding="utf-8")
    done = command("neighbors", "--questions", tmp_path / "questions.tsv")
    assert done.code == 2
    assert problem in done.err
    assert command("neighbors", "bank").code == 2
    assert command("neighbors", "bank", "A bank.", "--questions", tmp_path / "questions.tsv").code == 2
