"""Fuzz every reader of model files: valid files, changed a little, may be read or refused, and nothing else may happen.

    python benchmarks/hostile/fuzz.py --inputs 200000

Anything but an `ElmoError`, a crash of the process, an input that takes longer than ten seconds or more than 4 GiB is a
failure, printed with its number; the same number and seed make the same input again (`--only NUMBER`).
"""

import argparse
import copy
import dataclasses
import json
import math
import multiprocessing
import random
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import torch

from elmo.errors import ElmoError
from elmo.model.bilm import BiLM, BiLMConfig
from elmo.model.bilstm import BiLSTMConfig
from elmo.model.charcnn import CharCNNConfig
from elmo.model.wordtable import WordTableConfig
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel, Softmax
from elmo.weights.softmaxfile import add_softmax, write_softmax
from elmo.weights.verify import verify

SOFTMAX = "softmax.safetensors"
MOST_SECONDS = 10.0
MOST_MEMORY = 4 << 30
WORDS = ("<S>", "</S>", "<UNK>", "the", "river", "é", "漢")
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 65536, 2**31, 2**53, 2**63, 10**18, 0.5, -0.0, 1e300),
    *("", "relu", "x" * 300, "\u0000", "../../etc/passwd", [], {}, [[]], [[1, 2]], [[1, 2, 3]], {"kind": "words"}),
)
ODD_BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFF)


@dataclass(frozen=True)
class Target:
    """A valid set of files, which of them is changed and how, and what reads it."""

    name: str
    files: dict[str, bytes]
    changed: str
    mutate: Callable[[random.Random, bytes], bytes]
    read: Callable[[Path], object]

    def run(self, directory: Path, seed: int, number: int) -> str:
        """Make input `number`, read it, and say what came of it."""
        chance = random.Random(f"{seed}:{number}")
        (directory / self.changed).write_bytes(self.mutate(chance, self.files[self.changed]))
        try:
            self.read(directory)
        except ElmoError as error:
            return "refused" if "\n" not in str(error) else "REFUSED IN SEVERAL LINES"
        return "read"


def mutate_bytes(chance: random.Random, content: bytes, *, places: list[int] | None = None) -> bytes:
    """Some bytes changed, removed, repeated or cut off."""
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        if not changed:
            break
        place = min(chance.choice(places) if places else chance.randrange(len(changed)), len(changed) - 1)
        length = chance.choice((1, 2, 4, 8, 64))
        match chance.randrange(12):
            case 0:
                del changed[place : place + length]
            case 1:
                changed[place:place] = changed[place : place + length]
            case 2:
                changed[place : place + length] = chance.randbytes(length)
            case 3:
                del changed[place:]
            case 4:
                changed[place : place + length] = bytes([chance.choice(ODD_BYTES)]) * length
            case 5 | 6 | 7:
                changed[place] ^= 1 << chance.randrange(8)
            case _:
                changed[place] = chance.choice((*ODD_BYTES, chance.randrange(256)))
    return bytes(changed)


def mutate_json(chance: random.Random, content: bytes) -> bytes:
    """A value replaced, removed or moved, or the bytes changed."""
    if chance.random() < 0.3:
        return mutate_bytes(chance, content)
    root = {"": json.loads(content)}
    for _ in range(chance.choice((1, 1, 2, 3))):
        holder: Any = root
        key: Any = ""
        while isinstance(holder[key], dict | list) and holder[key] and chance.random() < 0.8:
            holder = holder[key]
            key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if chance.random() < 0.15 and isinstance(holder, dict) and key != "":
            del holder[key]
            holder[chance.choice(("kind", "x", "dim"))] = copy.deepcopy(chance.choice(ODD_VALUES))
        else:
            holder[key] = copy.deepcopy(chance.choice(ODD_VALUES))
    return json.dumps(root[""]).encode()


def mutate_safetensors(chance: random.Random, content: bytes) -> bytes:
    """The header changed as JSON with its length put right, or any bytes."""
    length = int.from_bytes(content[:8], "little")
    if chance.random() < 0.5:
        return mutate_bytes(chance, content, places=list(range(8 + length)) if chance.random() < 0.8 else None)
    header = mutate_json(chance, content[8 : 8 + length])
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def mutate_zip(chance: random.Random, content: bytes) -> bytes:
    """The archive's own bytes, or a member's, packed again."""
    if chance.random() < 0.5:
        directory = content.rfind(b"PK\x01\x02", 0, max(1, len(content) - 200))
        return mutate_bytes(chance, content, places=list(range(directory, len(content))) if directory > 0 else None)
    with tempfile.TemporaryFile() as packed:
        packed.write(content)
        with zipfile.ZipFile(packed) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        victim = chance.choice(list(files))
        files[victim] = mutate_bytes(chance, files[victim])
        if chance.random() < 0.2:
            files[chance.choice(("../x", "/x", "a/options.json", "vocab.txt.gz"))] = chance.randbytes(50)
        packed.seek(0)
        packed.truncate()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, value in files.items():
                archive.writestr(name, value)
        packed.seek(0)
        return packed.read()


def make_targets(directory: Path) -> list[Target]:
    """Tiny models of every format, as files."""
    characters = _write(directory / "characters", _character_model(), "bilm-tf")
    words = _write(directory / "words", _word_model(), "bilm-tf")
    native = _write(directory / "native", _word_model(), "native")
    eight = _write(directory / "eight", _character_model(), "native", storage="int8")
    whole = dataclasses.replace(_word_model(), softmax=Softmax(torch.ones(len(WORDS), 2), torch.ones(len(WORDS))))
    write_softmax(whole, directory / "softmax" / SOFTMAX)
    softmax = {SOFTMAX: (directory / "softmax" / SOFTMAX).read_bytes()}
    bare = _word_model()
    many = _manylangs()
    archive = _packed({"model.hdf5": characters["weights.hdf5"], "options.json": characters["options.json"]})
    metadata = _metadata_places(directory / "characters" / "weights.hdf5")

    def mutate_hdf5(chance: random.Random, content: bytes) -> bytes:
        return mutate_bytes(chance, content, places=metadata if chance.random() < 0.9 else None)

    def quickly(path: Path) -> LoadedModel:
        return read_model(path, settle=False)

    def checked(path: Path) -> LoadedModel:
        verify(path)
        return quickly(path)

    def in_archive(path: Path) -> LoadedModel:
        return read_model(path / "model.zip", settle=False)

    def with_softmax(path: Path) -> LoadedModel:
        return add_softmax(bare, path / SOFTMAX)

    return [
        Target("options.json", characters, "options.json", mutate_json, quickly),
        Target("HDF5", characters, "weights.hdf5", mutate_hdf5, quickly),
        Target("vocabulary", words, "vocab.txt", mutate_bytes, quickly),
        Target("config.json", native, "config.json", mutate_json, checked),
        Target("safetensors", native, "model.safetensors", mutate_safetensors, quickly),
        Target("safetensors in eight bits", eight, "model.safetensors", mutate_safetensors, quickly),
        Target("softmax apart", softmax, SOFTMAX, mutate_safetensors, with_softmax),
        Target("architecture", many, "tiny_arch.json", mutate_json, quickly),
        Target("dictionary of words", many, "word.dic", mutate_bytes, quickly),
        Target("dictionary of characters", many, "char.dic", mutate_bytes, quickly),
        Target("pickle", many, "encoder.pkl", mutate_bytes, quickly),
        Target("zip of NLPL", {"model.zip": archive}, "model.zip", mutate_zip, in_archive),
        Target("zip of ELMoForManyLangs", {"model.zip": _packed(many)}, "model.zip", mutate_zip, in_archive),
    ]


def _character_model() -> LoadedModel:
    return _model(CharCNNConfig(embedding_dim=2, filters=((1, 2), (2, 1)), highways=1, output_dim=2))


def _word_model() -> LoadedModel:
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


def _work(seed: int, start: int, stop: int, current: Any, outcomes: Any) -> None:
    """A process that goes through inputs and reports what came of each."""
    torch.set_num_threads(1)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        targets = make_targets(Path(folder) / "valid")
        counts: Counter[tuple[str, str]] = Counter()
        for n, target in enumerate(targets):
            (Path(folder) / str(n)).mkdir()
            for name, content in target.files.items():
                (Path(folder) / str(n) / name).write_bytes(content)
            target.read(Path(folder) / str(n))  # the valid files are read, or nothing below means anything
        for number in range(start, stop):
            current[0], current[1] = number, time.monotonic()
            target = targets[number % len(targets)]
            try:
                outcome = target.run(Path(folder) / str(number % len(targets)), seed, number)
            except BaseException:
                outcome = "ESCAPED"
                outcomes.put(("failure", f"input {number} ({target.name}):\n{traceback.format_exc()}"))
            counts[target.name, outcome] += 1
            if number % 1000 == 999 or number == stop - 1:
                outcomes.put(("counts", dict(counts)))
                counts.clear()
        current[0] = stop


def main(argv: list[str] | None = None) -> int:
    """Run the inputs in a process that is begun anew where it dies or hangs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="run this input alone")
    options = parser.parse_args(argv)
    start, stop = (options.only, options.only + 1) if options.only is not None else (0, options.inputs)
    context = multiprocessing.get_context("spawn")
    counts: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    began = time.monotonic()
    while start < stop:
        current, outcomes = context.Array("d", [start, math.inf]), context.SimpleQueue()
        process = context.Process(target=_work, args=(options.seed, start, stop, current, outcomes))
        process.start()
        while process.is_alive() or not outcomes.empty():
            while not outcomes.empty():
                kind, value = outcomes.get()
                if kind == "counts":
                    counts.update(value)
                else:
                    failures.append(value)
                    print(value, flush=True)
            process.join(0.2)
            if process.is_alive() and time.monotonic() - current[1] > MOST_SECONDS:
                failures.append(f"input {int(current[0])} took more than {MOST_SECONDS:.0f} s")
                process.kill()
        if process.exitcode:
            failures.append(f"input {int(current[0])} ended the process with {process.exitcode}")
            print(failures[-1], flush=True)
        start = stop if current[0] >= stop else int(current[0]) + 1
    for (name, outcome), count in sorted(counts.items()):
        print(f"{name:26s} {outcome:10s} {count:8,}")
    seconds = time.monotonic() - began
    print(f"{sum(counts.values()):,} inputs, {len(failures)} failures, {seconds:.0f} s, seed {options.seed}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
