"""The URLs that old code has in it."""

import shutil

import pytest
from tests.compat.golden import DIM, OPTIONS, WEIGHTS

from elmo.compat.allennlp import DEFAULT_OPTIONS_FILE, DEFAULT_WEIGHT_FILE, Elmo, ElmoEmbedder
from elmo.errors import WeightsError

OLD_HOST = "https://s3-us-west-2.amazonaws.com/allennlp/models/elmo/2x1024_128_2048cnn_1xhighway/"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache with nothing in it, and no network."""
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    monkeypatch.setenv("ELMO_OFFLINE", "1")
    return tmp_path


def put(cache, name: str, sizes: str) -> None:
    (cache / name).mkdir()
    shutil.copy(OPTIONS, cache / name / f"elmo_{sizes}_options.json")
    shutil.copy(WEIGHTS, cache / name / f"elmo_{sizes}_weights.hdf5")


def test_the_defaults_are_the_original_model(cache):
    put(cache, "original", "2x4096_512_2048cnn_2xhighway")
    assert ElmoEmbedder().embed_sentence(["noon"]).shape == (3, 1, DIM)
    assert Elmo(DEFAULT_OPTIONS_FILE, DEFAULT_WEIGHT_FILE, 1).get_output_dim() == DIM


def test_older_hosts_of_the_same_files_are_known(cache):
    put(cache, "small", "2x1024_128_2048cnn_1xhighway")
    files = [f"{OLD_HOST}elmo_2x1024_128_2048cnn_1xhighway_{end}" for end in ("options.json", "weights.hdf5")]
    assert ElmoEmbedder(*files).embed_sentence(["noon"]).shape == (3, 1, DIM)


def test_a_file_that_cannot_be_fetched_is_named_with_its_url_and_its_place(cache):
    with pytest.raises(WeightsError) as error:
        ElmoEmbedder()
    assert DEFAULT_OPTIONS_FILE in str(error.value)
    assert str(cache / "original") in str(error.value)


@pytest.mark.parametrize("url", ["https://example.org/options.json", "https://allennlp.example.org/x/options.json"])
def test_an_unknown_url_is_refused(url):
    with pytest.raises(WeightsError, match="download the file and give its path"):
        ElmoEmbedder(url, WEIGHTS)


def test_without_options_any_model_is_read():
    assert Elmo(None, WEIGHTS, 1).get_output_dim() == DIM
