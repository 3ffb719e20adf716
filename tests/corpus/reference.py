"""What a corpus store must hold, worked out slowly with lists and dictionaries; and texts to build stores of."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from elmo.corpus.split import choose_heldout
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import SPECIALS, Vocabulary

Sentence = list[str]
Document = list[Sentence]


def documents_of(text: str, *, documents: str, tokenizer: Tokenizer | None) -> list[Document]:
    """The documents of a file; without a tokenizer each line is a sentence of tokens."""
    lines = text.split("\n")
    sentences = [
        [line.split()] if tokenizer is None else [tokens.words for tokens in tokenizer.sentences(line)]
        for line in lines
    ]
    if documents == "files":
        found = [[sentence for line in sentences for sentence in line]]
    elif documents == "lines":
        found = sentences
    else:
        found = [[]]
        for line, line_sentences in zip(lines, sentences, strict=True):
            if line.strip():
                found[-1] += line_sentences
            else:
                found.append([])
    found = [[sentence for sentence in document if sentence] for document in found]
    return [document for document in found if document]


def reference_arrays(
    files: list[tuple[str, bool]],
    *,
    documents: str = "files",
    tokenizer: Tokenizer | None = None,
    heldout: float = 0.0,
    max_tokens: int = 250_000,
    seed: int = 0,
    **limits: Any,
) -> dict[str, Any]:
    """The arrays and the vocabulary for texts, each with whether it is named as held out."""
    sentences: list[tuple[Sentence, bool, bool]] = []  # the words, whether a document starts, whether held out
    for text, named in files:
        for document in documents_of(text, documents=documents, tokenizer=tokenizer):
            sentences += [(sentence, i == 0, named) for i, sentence in enumerate(document)]
    if heldout:
        lengths = np.array([len(words) for words, _, _ in sentences])
        starts = np.array([i for i, (_, starts, _) in enumerate(sentences) if starts])
        chosen = choose_heldout(lengths, starts, fraction=heldout, max_tokens=max_tokens, seed=seed)
        sentences = [(words, starts, bool(out)) for (words, starts, _), out in zip(sentences, chosen, strict=True)]

    counts = Counter(word for words, _, out in sentences if not out for word in words)
    spellings = {word for words, _, _ in sentences for word in words}
    types = sorted(spellings, key=lambda word: (-counts[word], word.encode()))
    vocabulary = Vocabulary.build(counts, **limits)
    number = {word: i for i, word in enumerate(types, start=1)}
    arrays: dict[str, Any] = {
        "vocabulary": list(vocabulary.words),
        "type_bytes": [[0] * 48, *[list(word.encode()[:48].ljust(48, b"\0")) for word in types]],
        "type_lengths": [0, *[min(len(word.encode()), 48) for word in types]],
        "type_targets": [1, *[2 if word in SPECIALS else vocabulary.id_of(word) for word in types]],
        "type_counts": [sum(not out for _, _, out in sentences), *[counts[word] for word in types]],
    }
    for split, wanted in (("train", False), ("heldout", True)):
        symbols: list[int] = []
        sentence_offsets: list[int] = []
        document_offsets: list[int] = []
        before = not wanted
        for words, starts, out in sentences:
            if out is wanted:
                if starts or before is not wanted:
                    document_offsets.append(len(sentence_offsets))
                sentence_offsets.append(len(symbols))
                symbols += [*[number[word] for word in words], 0]
            before = out
        arrays[f"{split}_symbols"] = symbols
        arrays[f"{split}_documents"] = [*document_offsets, len(sentence_offsets)]
        arrays[f"{split}_sentences"] = [*sentence_offsets, len(symbols)]
    return arrays


def stored_arrays(store: Any) -> dict[str, Any]:
    """The same of an open store."""
    names = [name for name in reference_arrays([("a", False)]) if name != "vocabulary"]
    return {"vocabulary": list(store.vocabulary.words), **{name: getattr(store, name).tolist() for name in names}}


def make_text(sentences: int, *, seed: int = 0, blank: float = 0.1) -> str:
    """Lines of made-up words with a few frequent and many rare ones, and blank lines between some."""
    generator = random.Random(seed)
    syllables = ["ba", "lo", "mi", "ru", "te", "no", "sá", "ße", "ki", "漢"]
    lines = []
    for _ in range(sentences):
        words = [
            "".join(generator.choices(syllables, k=1 + int(generator.expovariate(0.8))))
            for _ in range(generator.randint(1, 12))
        ]
        lines.append(" ".join([*words, "."]))
        if generator.random() < blank:
            lines.append(generator.choice(["", "  ", "\t"]))
    return "\n".join(lines) + "\n"


def file_contents(folder: Path) -> dict[str, bytes]:
    """Every file in a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
