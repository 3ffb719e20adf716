import gzip
import shutil
import zipfile
from pathlib import Path

import pytest
from tests.weights.making import CONFIGS, WORDS, make_model

from elmo.errors import WeightsError
from elmo.weights.formats import find_in, read_model, write_model

GOLDEN = Path(__file__).parents[1] / "golden"
VOCABULARY = "".join(f"{word}\n" for word in WORDS).encode()


def _pack(path: Path, files: dict[str, bytes | Path]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            if isinstance(content, Path):
                archive.write(content, name)
            else:
                archive.writestr(name, content)
    return path


@pytest.mark.parametrize("folder", ["", "deep/er/"])
@pytest.mark.parametrize("vocabulary", ["vocab.txt", "vocab.txt.gz", None])
def test_an_nlpl_archive_is_read(checkpoint, tmp_path, folder, vocabulary):
    files: dict[str, bytes | Path] = {
        f"{folder}model.hdf5": checkpoint / "weights.hdf5",
        f"{folder}options.json": checkpoint / "options.json",
        f"{folder}meta.json": b"{}",
        "__MACOSX/options.json": b"junk",
    }
    if vocabulary:
        files[f"{folder}{vocabulary}"] = gzip.compress(VOCABULARY) if vocabulary.endswith("gz") else VOCABULARY
    path = _pack(tmp_path / "217.zip", files)
    assert find_in(path).format.name == "nlpl-zip"
    model = read_model(path)
    assert model.sha256 == make_model().sha256
    assert model.source == str(path)
    assert (model.vocabulary is None) == (vocabulary is None)
    assert model.tokenizer.rule == "unicode"


def test_an_nlpl_archive_of_a_word_model_is_read(tmp_path):
    model = make_model(CONFIGS["words"])
    write_model(model, tmp_path / "hdf5", format="bilm-tf")
    files = {"model.hdf5": "weights.hdf5", "options.json": "options.json", "vocab.txt": "vocab.txt"}
    path = _pack(tmp_path / "1.zip", {name: tmp_path / "hdf5" / old for name, old in files.items()})
    assert read_model(path).sha256 == model.sha256


def test_a_vocabulary_that_is_not_needed_may_be_broken(checkpoint, tmp_path, caplog):
    path = _pack(
        tmp_path / "1.zip",
        {"model.hdf5": checkpoint / "weights.hdf5", "options.json": checkpoint / "options.json", "vocab.txt": b"the\n"},
    )
    assert read_model(path).vocabulary is None
    assert f"{path}/vocab.txt" in caplog.text


@pytest.mark.parametrize("architecture", ["inside", "published"])
def test_a_manylangs_archive_is_read(tmp_path, architecture):
    folder = GOLDEN / "efml" / "cnn_elmo"
    names = ["config.json", "char.dic", "word.dic", "token_embedder.pkl", "encoder.pkl"]
    names += ["tiny_arch.json"] if architecture == "inside" else []
    path = _pack(tmp_path / "136.zip", {f"136/{name}": folder / name for name in names})
    assert find_in(path).format.name == "manylangs-zip"
    if architecture == "inside":
        assert read_model(path).sha256 == read_model(folder).sha256
    else:
        with pytest.raises(WeightsError, match=r"136.zip: tiny_arch.json is missing"):
            read_model(path)


def test_errors_name_the_archive_and_not_the_copy(checkpoint, tmp_path):
    options = (checkpoint / "options.json").read_bytes().replace(b'"dim": 16', b'"dim": 24')
    path = _pack(tmp_path / "1.zip", {"model.hdf5": checkpoint / "weights.hdf5", "options.json": options})
    with pytest.raises(WeightsError, match=r"1.zip/model.hdf5: RNN_0.*\(16, 64\).*\(16, 96\)") as caught:
        read_model(path)
    assert "elmo-" not in str(caught.value)


def test_an_archive_of_something_else_is_refused(tmp_path):
    path = _pack(tmp_path / "1.zip", {"holiday.jpg": b"x"})
    with pytest.raises(WeightsError, match=r"1.zip: is not an archive of a model; wanted are model.hdf5"):
        read_model(path)


def test_a_file_that_is_there_twice_is_refused(checkpoint, tmp_path):
    files: dict[str, bytes | Path] = {
        "a/model.hdf5": checkpoint / "weights.hdf5",
        "b/model.hdf5": checkpoint / "weights.hdf5",
        "options.json": checkpoint / "options.json",
    }
    with pytest.raises(WeightsError, match=r"model.hdf5: found 2 such files"):
        read_model(_pack(tmp_path / "1.zip", files))


def test_reading_leaves_nothing_behind(checkpoint, tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    path = _pack(
        tmp_path / "1.zip", {"model.hdf5": checkpoint / "weights.hdf5", "options.json": checkpoint / "options.json"}
    )
    read_model(path)
    shutil.copy(path, tmp_path / "2.zip")
    (tmp_path / "2.zip").write_bytes(path.read_bytes()[:-30])
    with pytest.raises(WeightsError):
        read_model(tmp_path / "2.zip")
    assert list((tmp_path / "tmp").iterdir()) == []
