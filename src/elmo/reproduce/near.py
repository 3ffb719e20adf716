"""Table 4: the nearest neighbours of a word in its sentence, beside those of static vectors, which have one for all."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from elmo.analysis.examples import read_collection
from elmo.analysis.index.wordindex import WordIndex
from elmo.analysis.neighbors import Answer, Question, answer_questions
from elmo.analysis.similarity import unit
from elmo.embed.embedder import Embedder
from elmo.errors import InputError, MissingExtraError
from elmo.reproduce import paper
from elmo.reproduce.report.parts import ReportPart, ReportTable
from elmo.tasks.embedding.wordvectors import WordVectors, read_word_vectors

logger = logging.getLogger(__name__)

WORD = "play"
# The sentences of the paper's Table 4, shortened there too.
QUESTIONS = (
    Question(WORD, "Chico Ruiz made a spectacular play on Alusik 's grounder ."),
    Question(WORD, "Olivia De Havilland signed to do a Broadway play for Garson ."),
)
NEAREST = 10  # static words, as in the paper
COUNT = 3  # sentences to each question


def table_4(
    embedder: Embedder,
    *,
    index: WordIndex | None,
    vectors: Path | None,
    train_vectors: bool = False,
) -> ReportPart:
    """Neighbours among the sentences of an index, or the packaged ones."""
    from elmo.analysis.index import answer_from_index  # loads what searches only here

    part = ReportPart(name="table4", title="Table 4: neighbours of a word, with its context and without")
    if index is None:
        where = f"{len(read_collection())} packaged sentences"
        answers = answer_questions(embedder, QUESTIONS, _packaged(embedder), count=COUNT)
    else:
        where = f"{index.manifest.sentences:,} sentences, {len(index):,} words"
        answers = answer_from_index(embedder, list(QUESTIONS), index, count=COUNT)
    part.texts.append(f"Searched are {where}; at most one word of a sentence.")
    rows = [["GloVe", f"*the paper:* {', '.join(paper.TABLE4)}"]]
    if vectors is not None:
        rows.append([f"static vectors ({vectors.name})", ", ".join(nearest_words(read_word_vectors(vectors), WORD))])
    if train_vectors:
        texts = _Indexed(index) if index is not None else list(_packaged(embedder))
        rows.append(["word2vec, of the same text", ", ".join(nearest_words(word2vec(texts), WORD))])
    rows.append(["the biLM's tokens: no context", ", ".join(_without_context(embedder))])
    part.tables.append(ReportTable(caption=f"Nearest words to `{WORD}`", columns=["vectors", "neighbours"], rows=rows))
    part.tables.append(
        ReportTable(caption="Nearest words in context, top layer", columns=["asked", "found"], rows=_found(answers))
    )
    return part


def nearest_words(vectors: WordVectors, word: str, count: int = NEAREST) -> list[str]:
    """The words whose vectors are most similar (cosine) to a word's."""
    if word not in vectors.words:
        raise InputError(f"the static vectors have no word {word!r}; take a file that has it")
    own = vectors.words.index(word)
    similar = unit(vectors.vectors) @ unit(vectors.vectors[own])
    nearest = [n for n in np.argsort(-similar, kind="stable").tolist() if n != own]
    return [vectors.words[n] for n in nearest[:count]]


class Texts(Protocol):
    """Tokenized sentences that can be gone over again."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Sequence[str]]: ...


def word2vec(sentences: Texts, *, dim: int = 100) -> WordVectors:
    """Skip-gram vectors of a text, by gensim, which goes over it several times."""
    try:
        from gensim.models import Word2Vec
    except ModuleNotFoundError:
        raise MissingExtraError(
            "word2vec needs gensim; install it with: pip install 'elmo-embeddings[word2vec]', or leave it out"
        ) from None
    least = 1 if len(sentences) < 10_000 else 5
    model = Word2Vec(sentences, vector_size=dim, window=5, min_count=least, sg=1, epochs=5, seed=1, workers=2)
    return WordVectors(list(model.wv.index_to_key), np.asarray(model.wv.vectors, dtype=np.float32))


def _packaged(embedder: Embedder) -> Iterator[list[str]]:
    tokenizer = embedder.model.tokenizer
    return (tokenizer.tokenize(sentence).words for sentence in read_collection())


class _Indexed:
    """The sentences of an index, read from it each time: they need not find room in memory."""

    def __init__(self, index: WordIndex) -> None:
        self._index = index

    def __len__(self) -> int:
        return self._index.manifest.sentences

    def __iter__(self) -> Iterator[list[str]]:
        return (list(self._index.sentence(number).words) for number in range(len(self)))


def _without_context(embedder: Embedder) -> list[str]:
    """Words of the packaged sentences that are spelled alike, as the characters' layer sees them."""
    words = sorted({word for sentence in _packaged(embedder) for word in sentence if word.isalpha()})
    rows = embedder.encode([[word] for word in words], layers=0, show_progress_bar=False)
    vectors = WordVectors(words, np.stack([np.asarray(row[0], dtype=np.float32) for row in rows]))
    return nearest_words(vectors, WORD)


def _found(answers: Sequence[Answer]) -> list[list[str]]:
    rows = []
    for answer in answers:
        for n, neighbor in enumerate(answer.neighbors, start=1):
            place = "" if neighbor.file is None else f" ({neighbor.file}, line {neighbor.line})"
            asked = f"{n}. {_marked(answer.asked.tokens, answer.asked.place)}"
            rows.append([asked, f"{_marked(neighbor.tokens, neighbor.place)} {neighbor.similarity:.2f}{place}"])
    return rows


def _marked(tokens: Sequence[str], place: int, *, around: int = 14) -> str:
    """A word in its sentence; of a long one what stands around it."""
    first, last = max(0, place - around), place + around + 1
    words = [*tokens[first:place], f"**{tokens[place]}**", *tokens[place + 1 : last]]
    return " ".join([*(["..."] if first else []), *words, *(["..."] if last < len(tokens) else [])])
