"""The component `elmo`: each token of a pipeline gets its vector. D size of a vector, L layers with the tokens."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from spacy import util
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc

import elmo
from elmo.integrations.spacy.sentences import read_sentences

MODEL_FOLDER = "model"  # of a component's own on disk
EXTENSION = "elmo"


class ElmoVectors(Pipe):
    """Fills `doc.tensor` [tokens, D], from which `token.vector`, `span.vector` and `doc.vector` come.

    `layers`: as in `encode`; "all" puts all of them [L, tokens, D] into `doc._.elmo` and their mean into `doc.tensor`.
    `hooks`: whether `similarity` compares these vectors. spaCy by itself says 1.0 for two tokens of one spelling, and
    takes the vectors of the vocabulary where it has some; but hooks do not go from process to process.
    """

    def __init__(
        self,
        vocab: Any,
        name: str = "elmo",
        *,
        model: str | None = None,
        layers: str | int = "mean",
        hooks: bool = True,
        device: str | None = None,
        precision: str | None = None,
        num_threads: int | None = None,
    ) -> None:
        self.vocab, self.name = vocab, name
        self.source, self.layers, self.hooks = model, layers, hooks
        self.options: dict[str, Any] = {"device": device, "precision": precision, "num_threads": num_threads}
        self._loaded: elmo.Embedder | None = None
        if layers == "all" and not Doc.has_extension(EXTENSION):
            Doc.set_extension(EXTENSION, default=None)

    @property
    def embedder(self) -> elmo.Embedder:
        """The model, loaded when it is first needed: a pipeline is put together and read without it."""
        if self._loaded is None:
            self._loaded = elmo.load(self.source, **self.options)
        return self._loaded

    def __call__(self, doc: Doc) -> Doc:
        """Give the tokens of one text their vectors."""
        try:
            self._fill([doc])
        except Exception as error:
            self.get_error_handler()(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The same for many texts; the sentences of `batch_size` texts go through the biLM together."""
        for docs in util.minibatch(stream, size=batch_size):
            batch = list(docs)
            try:
                self._fill(batch)
            except Exception as error:
                self.get_error_handler()(self.name, self, batch, error)
                continue
            yield from batch

    def _fill(self, docs: list[Doc]) -> None:
        embedder, all_layers = self.embedder, self.layers == "all"
        words, sentences = read_sentences(docs)
        found = iter(embedder.encode(words, layers=self.layers, show_progress_bar=False))  # type: ignore[arg-type]
        for doc, places in zip(docs, sentences, strict=True):
            vectors = np.zeros((*((embedder.layer_count,) if all_layers else ()), len(doc), embedder.dim), np.float32)
            for sentence in places:
                vectors[..., sentence, :] = next(found)
            doc.tensor = vectors.mean(0) if all_layers else vectors
            if all_layers:
                doc._.set(EXTENSION, vectors)
            if self.hooks:
                _set_hooks(doc)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:  # noqa: ARG002 - spaCy's signature
        """Write a model that lies in a folder of the user's; the packaged and published ones are told by name."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        if self.source is not None and Path(self.source).exists():
            self.embedder.save_pretrained(folder / MODEL_FOLDER, overwrite=True)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "ElmoVectors":  # noqa: ARG002
        """Take the model that `to_disk` wrote, if it wrote one."""
        if (Path(path) / MODEL_FOLDER).is_dir():
            self.source, self._loaded = str(Path(path) / MODEL_FOLDER), None
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:  # noqa: ARG002
        """Nothing: the configuration names the model."""
        return b""

    def from_bytes(self, _: bytes, *, exclude: Iterable[str] = ()) -> "ElmoVectors":  # noqa: ARG002
        """Nothing to take."""
        return self


@Language.factory(
    "elmo",
    assigns=["doc.tensor", "token.vector"],
    default_config={
        "model": None,
        "layers": "mean",
        "hooks": True,
        "device": None,
        "precision": None,
        "num_threads": None,
    },
)
def make_elmo(
    nlp: Language,
    name: str,
    model: str | None,
    layers: str | int,
    hooks: bool,
    device: str | None,
    precision: str | None,
    num_threads: int | None,
) -> ElmoVectors:
    """The component of a pipeline's configuration."""
    return ElmoVectors(
        nlp.vocab,
        name,
        model=model,
        layers=layers,
        hooks=hooks,
        device=device,
        precision=precision,
        num_threads=num_threads,
    )


def _set_hooks(doc: Doc) -> None:
    for hooks in (doc.user_hooks, doc.user_span_hooks, doc.user_token_hooks):
        hooks["similarity"] = _similarity
    if doc.vocab.vectors.size:  # without them spaCy takes doc.tensor by itself
        doc.user_hooks["vector"] = _mean
        doc.user_span_hooks["vector"] = lambda span: _mean(span.doc[span.start : span.end], span.start, span.end)
        doc.user_token_hooks["vector"] = lambda token: token.doc.tensor[token.i]


def _mean(of: Any, start: int = 0, end: int | None = None) -> Any:
    rows = getattr(of, "doc", of).tensor[start:end]
    return rows.mean(0) if len(rows) else np.zeros(rows.shape[1:], np.float32)


def _similarity(one: Any, other: Any) -> float:
    a, b = one.vector, other.vector
    sizes = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(np.dot(a, b)) / sizes if sizes else 0.0
