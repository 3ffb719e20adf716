"""Reading a store: what it gives, and the errors for what is missing, changed or of another kind."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from elmo.corpus import CorpusStore, build_corpus
from elmo.errors import InputError
from elmo.text.tokenizer import Tokenizer

LONG = "é" * 24 + "longer"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    (folder / "train").write_text(f"b a b\n{LONG} b\n", encoding="utf-8")
    (folder / "held").write_text("a z\n", encoding="utf-8")
    build_corpus([folder / "train"], folder / "store", tokenized=True, min_count=1, heldout=[folder / "held"])
    return folder / "store"


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "copy"))


def test_a_store_gives_its_arrays_mapped_and_read_only(built: Path) -> None:
    store = CorpusStore.open(built)
    assert store.symbols("train").tolist() == [1, 2, 1, 0, 3, 1, 0]
    assert store.sentences("train").tolist() == [0, 4, 7]
    assert store.documents("train").tolist() == [0, 2]
    assert store.symbols("heldout").tolist() == [2, 4, 0]
    assert store.counts == {"train": (5, 2, 1), "heldout": (2, 1, 1)}
    assert store.types == 5
    assert [store.spelling(i) for i in range(5)] == ["", "b", "a", "é" * 24, "z"]
    assert store.vocabulary.words[3:] == ("b", "a", LONG)
    assert store.type_targets.tolist() == [1, 3, 4, 5, 2]
    assert store.type_counts.tolist() == [2, 3, 1, 1, 0]
    assert store.tokenizer == Tokenizer("whitespace", None)
    for name in ("type_bytes", "train_symbols", "train_sentences"):
        assert isinstance(getattr(store, name), np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        store.symbols("train")[0] = 1


def test_an_untouched_store_verifies(built: Path) -> None:
    CorpusStore.open(str(built)).verify()


@pytest.mark.parametrize("name", ["vocab.txt", "train_tokens.npy", "type_bytes.npy"])
def test_a_changed_byte_is_found(copy: Path, name: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[-2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"{name}: sha256 is \w+, but corpus.json says"):
        CorpusStore.open(copy).verify()


def test_a_manifest_without_hashes_does_not_verify(copy: Path) -> None:
    (copy / "corpus.json").write_text(json.dumps({"format": 1}), encoding="utf-8")
    with pytest.raises(InputError, match="does not record a hash of each file"):
        CorpusStore.open(copy).verify()


def test_a_folder_without_manifest_is_no_store(copy: Path) -> None:
    (copy / "corpus.json").unlink()
    with pytest.raises(InputError, match=r"no corpus\.json there"):
        CorpusStore.open(copy)
    with pytest.raises(InputError, match=r"no corpus\.json there"):
        CorpusStore.open(copy / "nowhere")


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 99}', "{}"])
def test_a_manifest_of_another_kind_is_refused(copy: Path, content: str) -> None:
    (copy / "corpus.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"corpus\.json: (is not JSON|found list|format is)"):
        CorpusStore.open(copy)


def test_a_missing_array_is_named(copy: Path) -> None:
    (copy / "heldout_tokens.npy").unlink()
    with pytest.raises(InputError, match=r"heldout_tokens\.npy: is missing"):
        CorpusStore.open(copy)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("type_bytes", np.zeros((5, 47), dtype=np.uint8)),
        ("type_targets", np.zeros(4, dtype=np.int32)),
        ("train_tokens", np.zeros(7, dtype=np.int64)),
        ("train_tokens", np.zeros((7, 1), dtype=np.int32)),
        ("train_tokens", np.zeros(8, dtype=np.int32)),
        ("train_documents", np.zeros(0, dtype=np.int64)),
        ("heldout_sentences", np.array([1, 3], dtype=np.int64)),
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_are_named(copy: Path, name: str, array: np.ndarray) -> None:
    np.save(copy / f"{name}.npy", array)
    with pytest.raises(InputError, match=r"\.npy: (holds|should rise)"):
        CorpusStore.open(copy)


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00"])
def test_a_damaged_array_is_named(copy: Path, content: bytes) -> None:
    (copy / "type_counts.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"type_counts\.npy: (is not an array|holds object)"):
        CorpusStore.open(copy)


def test_an_array_cut_short_is_named(copy: Path) -> None:
    content = (copy / "train_tokens.npy").read_bytes()
    (copy / "train_tokens.npy").write_bytes(content[:-4])
    with pytest.raises(InputError, match=r"train_tokens\.npy: has .* bytes of numbers"):
        CorpusStore.open(copy)


def test_an_array_of_objects_is_not_unpickled(copy: Path) -> None:
    np.save(copy / "type_counts.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"type_counts\.npy: (is not an array|holds object)"):
        CorpusStore.open(copy)
