"""ONNX: the written graph under ONNX Runtime equals the biLM."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.tiny import TINY, make_bilm

from elmo.errors import WeightsError
from elmo.model.bilm import BiLM
from elmo.model.words import WordTableConfig
from elmo.text.chars import boundary_rows, spell
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel

onnxruntime = pytest.importorskip("onnxruntime", reason="the extra `onnx` is not installed")
from elmo.weights.onnxfile import write_onnx  # noqa: E402 - after the skip

SENTENCES = [["A", "river", "bank", "."], [], ["naïve", "漢字", "x" * 60], ["One"] * 11]
LSTM = TINY.lstm
CONFIGS = {
    "clips that fire": replace(TINY, lstm=replace(LSTM, cell_clip=0.3, projection_clip=0.2)),
    "no clips, no skips": replace(
        TINY, lstm=replace(LSTM, cell_clip=None, projection_clip=None, skip_connections=False)
    ),
    "no projection": replace(TINY, lstm=replace(LSTM, cell_dim=8, projection_dim=None)),
    "one direction, three layers": replace(TINY, lstm=replace(LSTM, bidirectional=False, layers=3)),
    "tanh, no highway": replace(TINY, tokens=replace(TINY.tokens, activation="tanh", highways=0)),
}


def inputs(sentences: list[list[str]]) -> dict[str, np.ndarray]:
    lengths = np.array([len(s) + 2 for s in sentences], dtype=np.int64)
    characters = np.zeros((len(sentences), lengths.max(), 50), dtype=np.int64)
    begin, end = boundary_rows()
    for row, sentence in zip(characters, sentences, strict=True):
        row[0], row[len(sentence) + 1] = begin, end
        row[1 : len(sentence) + 1] = spell(sentence)
    return {"characters": characters, "lengths": lengths}


def expected(bilm: BiLM, given: dict[str, np.ndarray]) -> np.ndarray:
    characters, lengths = torch.from_numpy(given["characters"]), torch.from_numpy(given["lengths"])
    x = bilm.tokens(characters.flatten(0, 1)).view(*characters.shape[:2], -1)
    with torch.no_grad():
        layers, _ = bilm(x, lengths, bilm.settled_state(len(x)))
    return layers.numpy()


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_onnx_runtime_gives_what_torch_gives(config: object, tmp_path: Path) -> None:
    bilm = make_bilm(config)
    write_onnx(LoadedModel(bilm=bilm, tokenizer=Tokenizer(rule="treebank")), tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    for sentences in (SENTENCES, SENTENCES[:1], SENTENCES[::-1] * 3):
        given = inputs(sentences)
        (layers,) = session.run(None, given)
        wanted = expected(bilm, given)
        assert layers.shape == wanted.shape
        np.testing.assert_allclose(layers, wanted, rtol=0, atol=1e-5)


def test_the_clips_of_the_clipping_model_do_fire() -> None:
    given = inputs(SENTENCES)
    clipped = expected(make_bilm(CONFIGS["clips that fire"]), given)
    assert (np.abs(clipped[1]) == np.float32(0.2)).mean() > 0.05


def test_a_model_of_words_is_refused_as_onnx(tmp_path: Path) -> None:
    from elmo.text.vocabulary import Vocabulary

    config = replace(TINY, tokens=WordTableConfig(words=6, output_dim=8))
    words = Vocabulary(["<S>", "</S>", "<UNK>", "a", "b", "c"])
    model = LoadedModel(bilm=make_bilm(config), tokenizer=Tokenizer(rule="whitespace"), vocabulary=words)
    with pytest.raises(WeightsError, match="not a character model"):
        write_onnx(model, tmp_path / "model.onnx")


def test_a_file_is_not_overwritten_unasked(tmp_path: Path) -> None:
    model = LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank"))
    write_onnx(model, tmp_path / "model.onnx")
    with pytest.raises(WeightsError, match="exists already"):
        write_onnx(model, tmp_path / "model.onnx")
    write_onnx(model, tmp_path / "model.onnx", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
