"""`elmo embed` writes what scripts for the originals' dumps read: keys, shapes, and in state "carry" the numbers."""

import json

import h5py
import numpy as np
import pytest
import torch
from tests.compat.golden import DUMPS, MODEL, assert_close, datasets

from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.loading import load

LAYERS = {"all": "all", "top": "top", "average": "mean"}


@pytest.mark.parametrize("name", LAYERS)
def test_files_in_allennlps_layout_equal_allennlps(name, tmp_path):
    source, wanted = DUMPS / "allennlp09" / "sentences.txt", DUMPS / "allennlp09" / f"{name}.hdf5"
    options = BulkOptions(layers=LAYERS[name], tokenized=True, batch_size=3)
    embed_file(load(MODEL, state="carry", device="cpu"), str(source), str(tmp_path / "out.hdf5"), options=options)
    ours, theirs = datasets(tmp_path / "out.hdf5"), datasets(wanted)
    assert set(ours) == set(theirs)
    for key in theirs.keys() - {"sentence_to_index"}:
        assert ours[key][0] == theirs[key][0] == np.float32
        assert_close(ours[key][1], theirs[key][1], message=key)
    ours_index, theirs_index = (json.loads(found["sentence_to_index"][1][0]) for found in (ours, theirs))
    # AllenNLP strips a line before it is a key; here it is as it was read.
    assert {text.strip(): number for text, number in ours_index.items()} == theirs_index


def test_a_file_in_bilm_tfs_layout_equals_bilm_tfs(tmp_path):
    source, wanted = DUMPS / "bilm" / "sentences.txt", DUMPS / "bilm" / "bilm_embeddings.hdf5"
    options = BulkOptions(layers="all", tokenized=True, batch_size=1)
    embedder = load(MODEL, state="carry", device="cpu")
    embed_file(embedder, str(source), str(tmp_path / "out.hdf5"), options=options, output_format="hdf5-bilm")
    ours, theirs = datasets(tmp_path / "out.hdf5"), datasets(wanted)
    assert set(ours) == set(theirs)
    assert "<S>" in source.read_text("utf-8"), "a typed boundary token is a case of its own"
    for key in theirs:
        assert_close(ours[key][1], theirs[key][1], message=key)


def test_settled_files_have_the_same_keys_and_shapes(tmp_path):
    source, wanted = DUMPS / "allennlp09" / "sentences.txt", DUMPS / "allennlp09" / "all.hdf5"
    options = BulkOptions(layers="all", tokenized=True)
    embed_file(load(MODEL, device="cpu"), str(source), str(tmp_path / "out.hdf5"), options=options)
    with h5py.File(tmp_path / "out.hdf5") as ours, h5py.File(wanted) as theirs:
        assert {key: ours[key].shape for key in ours} == {key: theirs[key].shape for key in theirs}


def test_typed_boundaries_are_boundaries_in_state_carry_and_words_otherwise():
    for state in ("settled", "zero", "carry"):
        embedder = load(MODEL, state=state, device="cpu")
        vectors = embedder.encode([["<S>", "</S>"]], layers=0)[0]
        spelled = embedder.model.boundary_rows() if state == "carry" else embedder.model.spell(["<S>", "</S>"])
        rows = embedder.bilm.tokens(torch.from_numpy(spelled))
        assert_close(vectors[:, : rows.shape[1]], rows.numpy(), message=state)
