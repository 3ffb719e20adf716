"""Packed weights of large models: made once, mapped afterwards, never those of another file."""

import logging
import os
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.embed.embedder import Embedder
from elmo.embed.loading import load
from elmo.errors import ElmoError
from elmo.ops.cpu.kernels import kernels_multiply_bfloat16, kernels_run
from elmo.weights import packedfiles
from elmo.weights.formats import read_model, write_model

SENTENCES = [["The", "bank", "is", "open", "."], ["Yes", "."]]

pytestmark = pytest.mark.skipif(not kernels_run(), reason="no C++ compiler")

modes = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of packed files, into which the tiny models of these tests come too."""
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(packedfiles, "FROM_BYTES", 0)
    return tmp_path / "cache" / packedfiles.FOLDER


def load_and_keep(path: Path, dtype: str | None = None) -> Embedder:
    embedder = load(path, device="cpu", precision=dtype)
    for thread in threading.enumerate():
        if thread.name == "elmo-packed":
            thread.join()
    return embedder


def vectors(embedder: Embedder) -> np.ndarray:
    return np.concatenate(embedder.encode(SENTENCES, layers="all"), axis=1)


@pytest.mark.parametrize("dtype", [None, "int8", "bfloat16"])
def test_the_second_start_maps_what_the_first_made(model_directory: Path, kept: Path, dtype: str | None) -> None:
    if dtype == "bfloat16" and not kernels_multiply_bfloat16():
        pytest.skip("this processor has no instructions for bfloat16")
    first = vectors(load_and_keep(model_directory, dtype))
    (made,) = kept.iterdir()
    stamp = made.stat().st_ino
    np.testing.assert_array_equal(vectors(load_and_keep(model_directory, dtype)), first)
    assert [path.stat().st_ino for path in kept.iterdir()] == [stamp]
    # The numbers do come from there: others give other vectors.
    made.write_bytes(bytes(made.stat().st_size - 64) + made.read_bytes()[-64:])
    assert not np.array_equal(vectors(load_and_keep(model_directory, dtype)), first)


def test_each_precision_and_each_state_of_a_file_has_its_own(model_directory: Path, kept: Path, tmp_path: Path) -> None:
    path = tmp_path / "model"
    shutil.copytree(model_directory, path)
    before = vectors(load_and_keep(path))
    load_and_keep(path, "int8")
    model = read_model(path)
    with torch.no_grad():
        for parameter in model.bilm.parameters():
            parameter.mul_(1.1)
    write_model(model, path, overwrite=True)
    assert not np.allclose(vectors(load_and_keep(path)), before)
    assert len(list(kept.iterdir())) == 3


def test_a_file_that_was_cut_is_made_anew(model_directory: Path, kept: Path) -> None:
    expected = vectors(load_and_keep(model_directory))
    (made,) = kept.iterdir()
    whole = made.read_bytes()
    made.write_bytes(whole[: len(whole) // 2])
    np.testing.assert_array_equal(vectors(load_and_keep(model_directory)), expected)
    assert made.read_bytes() == whole
    made.write_bytes(whole[:64] + whole[-64:])
    with pytest.raises(ElmoError, match="remove it"):
        load(model_directory, device="cpu")


def test_damaged_weights_are_found_though_another_file_was_packed(
    model_directory: Path, kept: Path, tmp_path: Path
) -> None:
    load_and_keep(model_directory)
    assert kept.is_dir()
    path = tmp_path / "model"
    shutil.copytree(model_directory, path)
    weights = path / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-4:] = np.array([np.nan], dtype=np.float32).tobytes()
    weights.write_bytes(content)
    with pytest.raises(ElmoError, match="NaN"):
        load(path, device="cpu")


def test_a_folder_that_cannot_be_written_costs_nothing(model_directory: Path, kept: Path, embedder: Embedder) -> None:
    kept.parent.mkdir()
    kept.write_text("in the way", encoding="utf-8")
    np.testing.assert_array_equal(vectors(load_and_keep(model_directory)), vectors(embedder))


def test_a_model_without_its_weights_is_told_as_ever(model_directory: Path, kept: Path, tmp_path: Path) -> None:
    shutil.copytree(model_directory, tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    with pytest.raises(ElmoError, match=r"model\.safetensors"):
        load(tmp_path / "model", device="cpu")
    assert not kept.exists()


def test_what_a_killed_process_was_writing_goes_after_a_while(model_directory: Path, kept: Path) -> None:
    kept.mkdir(parents=True)
    for name, age in ((".a.packed.0123abcd", 2 * packedfiles.ABANDONED_SECONDS), (".b.packed.0123abcd", 1.0)):
        (kept / name).write_bytes(b"half")
        os.utime(kept / name, (time.time() - age,) * 2)
    load_and_keep(model_directory)
    assert sorted(path.name for path in kept.iterdir() if path.name.startswith(".")) == [".b.packed.0123abcd"]


def test_files_used_long_ago_make_room(model_directory: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_and_keep(model_directory)
    (old,) = kept.iterdir()
    monkeypatch.setattr(packedfiles, "MOST_BYTES", old.stat().st_size)
    load_and_keep(model_directory, "int8")
    (left,) = kept.iterdir()
    assert left != old


def test_small_models_and_other_precisions_leave_no_file(
    model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path))
    load_and_keep(model_directory)
    monkeypatch.setattr(packedfiles, "FROM_BYTES", 0)
    load_and_keep(model_directory, "float64")
    assert not os.listdir(tmp_path)


@modes
def test_packed_weights_that_others_could_lay_there_are_not_taken(
    model_directory: Path, kept: Path, embedder: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    load_and_keep(model_directory)
    (made,) = kept.iterdir()
    forged = bytes(made.stat().st_size - 64) + made.read_bytes()[-64:]
    made.write_bytes(forged)
    kept.chmod(0o777)
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(vectors(load_and_keep(model_directory)), vectors(embedder))
    assert "others (mode 777)" in caplog.text
    assert made.read_bytes() == forged  # nothing was written there either


@modes
def test_a_packed_file_that_others_can_write_is_made_anew(
    model_directory: Path, kept: Path, embedder: Embedder
) -> None:
    load_and_keep(model_directory)
    (made,) = kept.iterdir()
    made.write_bytes(bytes(made.stat().st_size - 64) + made.read_bytes()[-64:])
    made.chmod(0o666)
    np.testing.assert_array_equal(vectors(load_and_keep(model_directory)), vectors(embedder))
    (made,) = kept.iterdir()
    assert made.stat().st_mode & 0o022 == 0
    np.testing.assert_array_equal(vectors(load_and_keep(model_directory)), vectors(embedder))
