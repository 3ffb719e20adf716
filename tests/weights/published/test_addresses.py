import zipfile
from pathlib import Path

import pytest
from tests.weights.making import make_model
from tests.weights.webserver import Behaviour, serving

from elmo.errors import WeightsError
from elmo.weights.formats import portable_name, read_model, write_model
from elmo.weights.published import addresses
from elmo.weights.published.addresses import fetch_published, find_published, published_names
from elmo.weights.published.download import RemoteFile
from elmo.weights.verify import verify_model


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("ELMO_OFFLINE", raising=False)


def test_every_name_has_addresses_a_licence_and_a_page():
    assert len(published_names()) == len(set(published_names())) >= 50
    for name in published_names():
        model = find_published(name)
        assert model is not None
        assert model.licence
        assert model.page.startswith("https://")
        assert model.files or name == "german"
        for file in model.files:
            assert all(url.startswith("https://") and url.endswith(file.name) for url in file.urls)


def test_names_are_found_in_any_case_and_by_pattern():
    original = find_published("Original-5.5B")
    assert original is not None
    assert original.files[1].urls[0] == (
        "https://allennlp.s3.amazonaws.com/models/elmo/2x4096_512_2048cnn_2xhighway_5.5B/"
        "elmo_2x4096_512_2048cnn_2xhighway_5.5B_weights.hdf5"
    )
    for name, url in (
        ("manylangs-ar", "https://vectors.nlpl.eu/repository/11/136.zip"),
        ("manylangs-nl", "https://vectors.nlpl.eu/repository/11/164.zip"),
        ("manylangs-zh", "https://vectors.nlpl.eu/repository/11/179.zip"),
        ("nlpl-218", "https://vectors.nlpl.eu/repository/20/218.zip"),
    ):
        model = find_published(name)
        assert model is not None
        assert model.files[0].urls == (url,)
    for name in ("manylangs-xx", "nlpl-", "nlpl-0", "nlpl-../1", "nlpl-1/2", "../small"):
        assert find_published(name) is None


def test_an_unknown_name_is_answered_with_near_ones():
    with pytest.raises(WeightsError, match="no published model of that name; did you mean original"):
        read_model("orignal")
    with pytest.raises(WeightsError, match="names are english, small, medium"):
        read_model("qqqq")


def test_a_path_is_never_taken_for_a_name(tmp_path):
    with pytest.raises(WeightsError, match=r"there is no such file or directory$"):
        read_model(tmp_path / "small")
    with pytest.raises(WeightsError, match=r"there is no such file or directory$"):
        read_model("./small/")
    with pytest.raises(WeightsError, match=r"there is no such file or directory$"):
        read_model("weights.hdf5")


def _archive(tmp_path: Path) -> bytes:
    write_model(make_model(), tmp_path / "hdf5", format="bilm-tf")
    with zipfile.ZipFile(tmp_path / "1.zip", "w") as archive:
        archive.write(tmp_path / "hdf5" / "weights.hdf5", "model.hdf5")
        archive.write(tmp_path / "hdf5" / "options.json", "options.json")
    return (tmp_path / "1.zip").read_bytes()


def test_a_model_is_read_by_name_and_then_without_the_network(tmp_path, monkeypatch):
    with serving(Behaviour(_archive(tmp_path))) as url:
        file = RemoteFile(name="file.bin", urls=(url,))
        found = find_published("nlpl-5")
        assert found is not None
        monkeypatch.setattr(addresses, "RemoteFile", lambda **_: file)
        model = read_model("nlpl-5")
    assert model.sha256 == make_model().sha256
    assert model.source == str(tmp_path / "cache" / "nlpl-5" / "file.bin")
    assert portable_name(model.source) == "nlpl-5"
    assert read_model("nlpl-5", offline=True).sha256 == model.sha256
    findings = verify_model("nlpl-5")
    assert all(finding.ok for finding in findings)
    assert any("sha256 of file.bin" in finding.what for finding in findings)


def test_the_network_can_be_forbidden_for_all(monkeypatch):
    monkeypatch.setenv("ELMO_OFFLINE", "1")
    with pytest.raises(WeightsError, match=r"_options.json: cannot be downloaded; get it from .* \(working offline\)"):
        read_model("small")


def test_a_model_without_addresses_is_put_in_its_place_by_hand(tmp_path):
    german = find_published("german")
    assert german is not None
    place = tmp_path / "cache" / "german"
    with pytest.raises(WeightsError, match=f"get it from {german.page} and put its files into {place}"):
        fetch_published(german)
    write_model(make_model(), place, format="bilm-tf")
    model = read_model("german")
    assert model.sha256 == make_model().sha256
    assert model.tokenizer.language == "de"
