"""The readers of model files: tiny models of every format, each with the file that is changed."""

import dataclasses
import json
import random
import tempfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import torch

from benchmarks.hostile.mutations import (
    mutate_bytes,
    mutate_json_text,
    mutate_safetensors,
    mutate_text,
    mutate_zip,
)
from benchmarks.hostile.target import Target
from elmo.model.architecture import BiLMConfig
from elmo.model.bilm import BiLM
from elmo.model.characters import CharCNNConfig
from elmo.model.stacks import BiLSTMConfig
from elmo.model.words import WordTableConfig
from elmo.ops.cpu.packed_file import END, PackedFile
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.published.records import recorded_sha256
from elmo.weights.softmax import Softmax
from elmo.weights.softmaxfile import add_softmax, write_softmax
from elmo.weights.verify import verify_model

SOFTMAX = "softmax.safetensors"
WORDS = ("<S>", "</S>", "<UNK>", "the", "river", "é", "漢")


def model_targets(directory: Path) -> list[Target]:
    """Tiny models of every format."""
    characters = _write(directory / "characters", character_model(), "bilm-tf")
    words = _write(directory / "words", word_model(), "bilm-tf")
    native = _write(directory / "native", word_model(), "native")
    eight = _write(directory / "eight", character_model(), "native", storage="int8")
    whole = dataclasses.replace(word_model(), softmax=Softmax(torch.ones(len(WORDS), 2), torch.ones(len(WORDS))))
    write_softmax(whole, directory / "softmax" / SOFTMAX)
    softmax = {SOFTMAX: (directory / "softmax" / SOFTMAX).read_bytes()}
    write_softmax(whole, directory / "softmax" / SOFTMAX, storage="int4")
    four = {SOFTMAX: (directory / "softmax" / SOFTMAX).read_bytes()}
    write_model(whole, directory / "within", softmax="int4")
    within = {path.name: path.read_bytes() for path in (directory / "within").iterdir()}
    bare = word_model()
    many = _manylangs()
    _lay_out(directory / "many", many)
    dictionaries = _write(directory / "dictionaries", read_model(directory / "many"), "native")
    cached = {**characters, **_token_cache(directory / "cache.hdf5"), "vocab.txt": words["vocab.txt"]}
    archive = _packed({"model.hdf5": characters["weights.hdf5"], "options.json": characters["options.json"]})
    metadata = _metadata_places(directory / "characters" / "weights.hdf5")

    def mutate_hdf5(chance: random.Random, content: bytes) -> bytes:
        return mutate_bytes(chance, content, places=metadata if chance.random() < 0.9 else None)

    def quickly(path: Path) -> LoadedModel:
        return read_model(path, settle=False)

    def checked(path: Path) -> LoadedModel:
        verify_model(path)
        return quickly(path)

    def in_archive(path: Path) -> LoadedModel:
        return read_model(path / "model.zip", settle=False)

    def with_cache(path: Path) -> LoadedModel:
        return read_model(path, embedding=path / "cache.hdf5", vocabulary=path / "vocab.txt", settle=False)

    def in_cache(path: Path) -> object:
        return recorded_sha256(path / "weights.hdf5"), verify_model(path)

    def packed(path: Path) -> object:
        return PackedFile(path / "model.packed").take(64, lambda block: block.fill(0))

    def with_softmax(path: Path) -> LoadedModel:
        return add_softmax(bare, path / SOFTMAX)

    def asked_for(path: Path) -> object:
        return verify_model(path), quickly(path).softmax

    return [
        Target("options.json", characters, "options.json", mutate_json_text, quickly),
        Target("HDF5", characters, "weights.hdf5", mutate_hdf5, quickly),
        Target("vocabulary", words, "vocab.txt", mutate_text, quickly),
        Target("config.json", native, "config.json", mutate_json_text, checked),
        Target("safetensors", native, "model.safetensors", mutate_safetensors, quickly),
        Target("safetensors in eight bits", eight, "model.safetensors", mutate_safetensors, quickly),
        Target("softmax apart", softmax, SOFTMAX, mutate_safetensors, with_softmax),
        Target("softmax in four bits", four, SOFTMAX, mutate_safetensors, with_softmax),
        Target("softmax in the directory", within, SOFTMAX, mutate_safetensors, asked_for),
        Target("architecture", many, "tiny_arch.json", mutate_json_text, quickly),
        Target("dictionary of words", many, "word.dic", mutate_text, quickly),
        Target("dictionary of characters", many, "char.dic", mutate_text, quickly),
        Target("pickle", many, "encoder.pkl", mutate_bytes, quickly),
        Target("config of ELMoForManyLangs", many, "config.json", mutate_json_text, quickly),
        Target("words of a native model", dictionaries, "words.tsv", mutate_text, quickly),
        Target("characters of a native model", dictionaries, "characters.tsv", mutate_text, quickly),
        Target("model card", native, "README.md", mutate_text, checked),
        Target("token cache", cached, "cache.hdf5", mutate_hdf5, with_cache),
        Target(
            "record of a download", {**characters, **_record()}, "weights.hdf5.record.json", mutate_json_text, in_cache
        ),
        Target("packed weights", {"model.packed": bytes(128) + END}, "model.packed", mutate_bytes, packed),
        Target("zip of NLPL", {"model.zip": archive}, "model.zip", mutate_zip, in_archive),
        Target("zip of ELMoForManyLangs", {"model.zip": _packed(many)}, "model.zip", mutate_zip, in_archive),
    ]


def character_model() -> LoadedModel:
    return _model(CharCNNConfig(embedding_dim=2, filters=((1, 2), (2, 1)), highways=1, output_dim=2))


def word_model() -> LoadedModel:
    return _model(WordTableConfig(words=len(WORDS), output_dim=2), Vocabulary(WORDS))


def _model(tokens: CharCNNConfig | WordTableConfig, vocabulary: Vocabulary | None = None) -> LoadedModel:
    config = BiLMConfig(tokens=tokens, lstm=BiLSTMConfig(input_dim=2, cell_dim=3, projection_dim=2, layers=1))
    bilm = BiLM(config)
    bilm.initialize(torch.Generator().manual_seed(0))
    return LoadedModel(bilm=bilm, tokenizer=Tokenizer(), vocabulary=vocabulary)


def _manylangs() -> dict[str, bytes]:
    """The files of a model of ELMoForManyLangs, with pickles in the old form, which carries no checksums."""
    sizes = {"encoder": {"name": "elmo", "projection_dim": 2, "cell_clip": 3, "proj_clip": 3, "dim": 3, "n_layers": 1}}
    tokens = {"name": "cnn", "activation": "relu", "filters": [[1, 2]], "n_highway": 1, "word_dim": 2, "char_dim": 2}
    sizes["token_embedder"] = tokens | {"max_characters_per_token": 10}
    characters = ["a", "b", "漢", "<bos>", "<eos>", "<oov>", "<pad>", "<bow>", "<eow>"]
    words = ["<oov>", "<bos>", "<eos>", "<pad>", "a", "ab", "\u3000"]
    shapes = {
        "token_embedder.pkl": {
            "word_emb_layer.embedding.weight": (7, 2),
            "char_emb_layer.embedding.weight": (9, 2),
            "convolutions.0.weight": (2, 2, 1),
            "convolutions.0.bias": (2,),
            "highways._layers.0.weight": (4, 2),
            "highways._layers.0.bias": (4,),
            "projection.weight": (2, 4),
            "projection.bias": (2,),
        },
        "encoder.pkl": {
            f"{direction}_layer_0.{name}": shape
            for direction in ("forward", "backward")
            for name, shape in {
                "input_linearity.weight": (12, 2),
                "state_linearity.weight": (12, 2),
                "state_linearity.bias": (12,),
                "state_projection.weight": (2, 3),
            }.items()
        },
    }
    files = {
        "config.json": json.dumps({"config_path": "/home/author/tiny_arch.json"}).encode(),
        "tiny_arch.json": json.dumps(sizes).encode(),
        "char.dic": "".join(f"{token}\t{n}\n" for n, token in enumerate(characters)).encode(),
        "word.dic": "".join(f"{token}\t{n}\n" for n, token in enumerate(words)).encode(),
    }
    for name, tensors in shapes.items():
        with tempfile.TemporaryFile() as file:
            values = {key: torch.zeros(*shape) for key, shape in tensors.items()}
            torch.save(values, file, _use_new_zipfile_serialization=False)
            file.seek(0)
            files[name] = file.read()
    return files


def _write(directory: Path, model: LoadedModel, target: str, *, storage: str = "float32") -> dict[str, bytes]:
    write_model(model, directory, format=target, storage=storage)  # type: ignore[arg-type]
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def _packed(files: dict[str, bytes]) -> bytes:
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        file.seek(0)
        return file.read()


def _metadata_places(path: Path) -> list[int]:
    """Bytes of an HDF5 file that are not numbers of a dataset, nor unused."""
    content = path.read_bytes()
    numbers: set[int] = set()

    def visit(_: str, value: object) -> None:
        if isinstance(value, h5py.Dataset):
            start = value.id.get_offset()
            numbers.update(range(start, start + value.id.get_storage_size()))

    with h5py.File(path) as file:
        file.visititems(visit)
    used = {i for i, byte in enumerate(content) if byte}
    near = {j for i in used for j in range(i - 4, i + 5) if 0 <= j < len(content)}
    return sorted(near - numbers)


def _lay_out(directory: Path, files: dict[str, bytes]) -> None:
    directory.mkdir(parents=True)
    for name, content in files.items():
        (directory / name).write_bytes(content)


def _token_cache(path: Path) -> dict[str, bytes]:
    with h5py.File(path, "w") as file:
        file["embedding"] = np.ones((len(WORDS), 2), "f4")
    return {path.name: path.read_bytes()}


def _record() -> dict[str, bytes]:
    values = {"sha256": "0" * 64, "source": "https://example.org/weights.hdf5", "recorded": "2018-02-15T00:00:00Z"}
    return {"weights.hdf5.record.json": json.dumps(values).encode()}
