"""The packaged model: found by its name, checked by its hash, missed with a message, and sound."""

import zlib

import numpy as np
import pytest
from tests.weights.making import make_model

import elmo
from elmo.errors import WeightsError
from elmo.weights.formats import read_model
from elmo.weights.native import write_native
from elmo.weights.published import packaged
from elmo.weights.verify import verify_model


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.setattr(packaged, "packaged_directory", lambda name="english": tmp_path / name)
    return tmp_path


def test_the_name_english_is_the_packaged_model(models):
    write_native(make_model(), models / "english", storage="int8")
    assert packaged.has_packaged()
    assert read_model("english").source == str(models / "english")


def test_a_folder_of_the_same_name_does_not_take_its_place(models, tmp_path, monkeypatch, caplog):
    write_native(make_model(), models / "english", storage="int8")
    here = tmp_path / "here"
    write_native(make_model(), here / "english")
    monkeypatch.chdir(here)
    assert read_model("english").source == str(models / "english")
    assert "write ./english" in caplog.text
    assert read_model("./english").source == "english"


@pytest.mark.usefixtures("models")
def test_a_missing_model_is_said_to_be_missing():
    assert not packaged.has_packaged()
    with pytest.raises(WeightsError, match=r"english: this installation .* comes without its model .* name another"):
        read_model("english")


def test_a_packaged_file_that_was_changed_is_refused(models):
    write_native(make_model(), models / "english")
    path = models / "english" / "model.safetensors"
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    with pytest.raises(WeightsError, match="the file is damaged"):
        read_model("english")


def test_the_directory_lies_in_the_package():
    assert packaged.packaged_directory().parts[-3:] == ("elmo", "models", "english")


def test_the_model_in_this_checkout_is_sound_and_small():
    directory = packaged.packaged_directory()
    assert all(finding.ok for finding in verify_model(directory))
    # As a wheel holds them: it must stay below 30 MB, and the program takes half of one.
    assert sum(len(zlib.compress(path.read_bytes())) for path in directory.iterdir()) <= 29_000_000
    assert read_model("english").softmax is None


def test_it_tells_senses_apart():
    embedder = elmo.load(device="cpu")
    river, stream, money = embedder.encode(
        [
            ["They", "pulled", "the", "canoe", "up", "on", "the", "bank", "of", "the", "river", "."],
            ["A", "tree", "had", "fallen", "from", "the", "bank", "into", "the", "stream", "."],
            ["She", "asked", "the", "bank", "for", "a", "loan", "to", "buy", "the", "house", "."],
        ],
        layers="top",
    )
    bank = river[7] / np.linalg.norm(river[7])
    assert bank @ stream[6] / np.linalg.norm(stream[6]) > 0.2 + bank @ money[3] / np.linalg.norm(money[3])
