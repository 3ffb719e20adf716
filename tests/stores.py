"""A corpus store in its documented format, written by a few lines of its own from lists of sentences."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

Sentences = Sequence[Sequence[str]]


def write_store(
    folder: Path, train: Sentences, heldout: Sentences, *, vocabulary: int | None = None, document: int = 4
) -> Path:
    """Write a store; `document` sentences make a document, `vocabulary` counts the specials."""
    folder.mkdir(parents=True)
    counts = Counter(word for sentence in train for word in sentence)
    heldout_only = {word for sentence in heldout for word in sentence} - set(counts)
    types = [*sorted(counts, key=lambda word: (-counts[word], word)), *sorted(heldout_only)]
    number = {word: n for n, word in enumerate(types, start=1)}
    words = ["<S>", "</S>", "<UNK>", *[word for word in types if counts[word]]][:vocabulary]
    target = {word: n for n, word in enumerate(words)}
    table = np.zeros((len(types) + 1, 48), dtype=np.uint8)
    lengths = np.zeros(len(types) + 1, dtype=np.uint8)
    for word, n in number.items():
        spelled = word.encode()[:48]
        table[n, : len(spelled)] = list(spelled)
        lengths[n] = len(spelled)
    arrays = {
        "type_bytes": table,
        "type_lengths": lengths,
        "type_targets": np.array([1, *[target.get(word, 2) for word in types]], dtype=np.int32),
        "type_counts": np.array([len(train), *[counts[word] for word in types]], dtype=np.int64),
    }
    for split, sentences in (("train", train), ("heldout", heldout)):
        stream = [symbol for sentence in sentences for symbol in [*[number[word] for word in sentence], 0]]
        arrays[f"{split}_tokens"] = np.array(stream, dtype=np.int32)
        arrays[f"{split}_sentences"] = np.cumsum([0, *[len(sentence) + 1 for sentence in sentences]], dtype=np.int64)
        documents = [*range(0, len(sentences), document), len(sentences)]
        arrays[f"{split}_documents"] = np.array(documents if sentences else [0], dtype=np.int64)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "vocab.txt").write_bytes("".join(f"{word}\n" for word in words).encode())
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}
    manifest = {"format": 1, "tokenizer": {"rule": "whitespace", "language": None}, "hashes": hashes}
    (folder / "corpus.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def toy_sentences(count: int, *, seed: int = 0) -> list[list[str]]:
    """Sentences of a small grammar in which the next word is seldom a surprise."""
    generator = np.random.default_rng(seed)
    subjects = ["the old sailor", "a young baker", "my neighbour", "the tired clerk"]
    verbs = ["sees", "paints", "forgets", "carries"]
    objects = ["a red boat", "the long letter", "two loaves", "nothing"]
    places = ["by the harbour", "in the kitchen", "at noon", ""]
    sentences = []
    for _ in range(count):
        parts = [part[generator.integers(len(part))] for part in (subjects, verbs, objects, places)]
        sentences.append([*" ".join(parts).split(), "."])
    return sentences


@pytest.fixture(scope="session")
def make_store() -> Callable[..., Path]:
    """The writer of stores."""
    return write_store


@pytest.fixture(scope="session")
def make_sentences() -> Callable[..., list[list[str]]]:
    """The writer of sentences."""
    return toy_sentences


@pytest.fixture(scope="session")
def toy_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two hundred sentences, with some words outside the vocabulary. Not to be changed."""
    folder = tmp_path_factory.mktemp("corpus") / "store"
    heldout = [*toy_sentences(20, seed=1), ["an", "unheard", "zebra", "sleeps", "."]]
    return write_store(folder, toy_sentences(200), heldout, vocabulary=24)


@pytest.fixture(autouse=True)
def _one_thread():
    """The sizes here are too small to share among threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
