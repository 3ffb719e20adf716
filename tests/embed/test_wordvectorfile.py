"""word2vec's binary file: its bytes, the vectors of layer 0, and what is no word."""

from pathlib import Path

import numpy as np
import pytest
from tests.tiny import make_bilm

from elmo.apps.cli import main
from elmo.embed.embedder import Embedder
from elmo.embed.wordvectorfile import read_words, write_word2vec
from elmo.errors import InputError
from elmo.text.tokenizer import Tokenizer
from elmo.weights import LoadedModel, write_model

WORDS = ["the", "Zürich", "中文", "didn't"]


def read_file(path: Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    header, _, rest = data.partition(b"\n")
    count, size = map(int, header.split())
    found = {}
    for _ in range(count):
        word, _, rest = rest.partition(b" ")
        found[word.decode("utf-8")] = np.frombuffer(rest[: 4 * size], "<f4")
        assert rest[4 * size : 4 * size + 1] == b"\n"
        rest = rest[4 * size + 1 :]
    assert rest == b""
    return found


@pytest.fixture
def model() -> LoadedModel:
    return LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer())


def test_words_have_their_vectors_of_layer_0(model: LoadedModel, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("elmo.embed.wordvectorfile.AT_ONCE", 3)
    embedder = Embedder(model, device="cpu")
    write_word2vec(embedder, WORDS, tmp_path / "words.bin")
    found = read_file(tmp_path / "words.bin")
    assert list(found) == WORDS
    inside = embedder.encode([["In", *WORDS, "."]], layers=0)[0][1:-1]
    np.testing.assert_allclose(np.stack(list(found.values())), inside, atol=1e-6)


def test_a_vocabulary_gives_each_word_once_without_its_marks(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("</S>\n<S>\n<UNK>\nthe\n\nbank\nthe\n", encoding="utf-8")
    assert read_words(tmp_path / "vocab.txt") == ["the", "bank"]


def test_two_words_on_a_line_are_refused_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("the\nNew York\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2 is 'New York', but one word a line is wanted"):
        read_words(tmp_path / "vocab.txt")


def test_the_command_writes_the_file_and_replaces_none(model: LoadedModel, tmp_path: Path, capsys) -> None:
    write_model(model, tmp_path / "model")
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    command = ["words", str(tmp_path / "vocab.txt"), "-o", str(tmp_path / "w.bin"), "--model", str(tmp_path / "model")]
    assert main(command) == 0
    assert "4 words, 16 numbers each" in capsys.readouterr().out
    assert list(read_file(tmp_path / "w.bin")) == WORDS
    assert main(command) == 2
    assert "exists already" in capsys.readouterr().err
    (tmp_path / "vocab.txt").write_text("\n", encoding="utf-8")
    assert main([*command, "--overwrite"]) == 2
    assert "has no words" in capsys.readouterr().err
