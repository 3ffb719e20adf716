"""`Embedder`: a biLM ready to embed token lists, in batches, in input order. The same call never gives two answers."""

import contextlib
import functools
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from elmo.disk.stamps import Stamp
from elmo.embed.batchembedder import BatchEmbedder
from elmo.embed.batches import by_length, in_order
from elmo.embed.carry import widened, with_first_rows
from elmo.embed.choices import Layers, Precision, StoredDtype
from elmo.embed.encoding import Encoding
from elmo.embed.numbered import Integers, NumberedSentences, number_sentences
from elmo.embed.precision import choose_dtype, products_of
from elmo.embed.results import Results
from elmo.embed.runners import choose_runner, computing, fastest_forward, rows_for
from elmo.embed.wordcache import WordCache
from elmo.embed.wordrows import word_vectors
from elmo.embed.wordsofcall import WordsOfCall
from elmo.errors import ConfigError, needing_torch
from elmo.model.choices import StateMode
from elmo.model.packed import PackedBiLM
from elmo.model.state import State
from elmo.ops.arrays import Array, cast, placed
from elmo.ops.cpu.packed_file import PackedFile
from elmo.ops.threadlock import ThreadLock
from elmo.ops.where import name_of_device
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel, require_loaded

if TYPE_CHECKING:
    import torch

    from elmo.embed.outbox import Outbox
    from elmo.model.bilm import BiLM

logger = logging.getLogger(__name__)

STATES = ("settled", "zero", "carry")
POSITIONS_FACTOR_ON_GPU = 16
BATCH_SIZE, BATCH_SIZE_ON_GPU = 64, 1024
SHORTEST_ON_GPU = 0.7  # of a batch's longest sentence
MOST_POSITIONS = 4096  # rows x steps in one batch; a longer sentence goes through in windows of this many steps
BAR_AFTER_SECONDS = 1.0

Vectors = npt.NDArray[np.floating[Any]]


class Reference(NamedTuple):
    """How to load an embedder again: what was given to `elmo.load`.

    `files` tell whether the model is still the one it was: a pickle of another model at the same path is another
    pickle, so that what is kept under its hash (`datasets.map`, joblib) is not taken for this one's.
    """

    name_or_path: str
    device: str | None
    precision: Precision | None
    state: StateMode
    num_threads: int | None
    options: str | None
    offline: bool
    files: Stamp = ()


class Embedder(Encoding):
    """A biLM ready to embed. Nothing is remembered between calls but the vectors of words.

    Made by `elmo.load`. Pickles as a reference to the model's files, not with its weights. Threads may share one.
    `precision`, `state` and `num_threads` are as in `elmo.load`, `model` is the model as it was read (its tokenizer and
    vocabulary, its weights as they are stored). In torch, which must be there for these: `device` and `dtype` that it
    computes on and in, and `bilm`, the same network as a frozen module on the device.
    """

    def __init__(
        self,
        model: LoadedModel,
        *,
        device: str | None = None,
        precision: Precision | None = None,
        state: StateMode = "settled",
        num_threads: int | None = None,
        reference: Reference | None = None,
        packed: PackedFile | None = None,
    ) -> None:
        require_loaded(model, reader="elmo.load")
        if state not in STATES:
            raise ConfigError(f"state is {state!r}; it must be one of {', '.join(STATES)}")
        if num_threads is not None and num_threads < 1:
            raise ConfigError(f"num_threads is {num_threads}; it must be at least 1")
        self._device = name_of_device(device)
        self._dtype = choose_dtype(precision, self._device)
        self.state = state
        self.num_threads = num_threads
        self.model = model
        self._runner = choose_runner(
            model,
            device=self._device,
            dtype=self._dtype,
            products=products_of(precision, self._device),
            packed=packed,
        )
        products = self._runner.making.products if isinstance(self._runner, PackedBiLM) else "float32"
        self.precision = self._dtype if products == "float32" else products
        self._reference = reference
        with computing(self._runner, threads=num_threads):
            self._boundaries = self._word_rows(model.boundary_rows())  # [2, D]
        self._lock = ThreadLock()
        self._queued: Any = None  # an event of torch's: the batch before is done
        self._cut_words: list[str] = []
        self._told_of_cut_words = False
        self._cache = WordCache(self._encode_words, size=self._boundaries.shape[1])
        # The same for whole batches, where that can be faster still.
        self._forward = fastest_forward(self._runner, start=None if state == "carry" else self._start(1))

    @property
    def _on_gpu(self) -> bool:
        return self._device != "cpu"

    @property
    def _most_positions(self) -> int:
        return MOST_POSITIONS * (POSITIONS_FACTOR_ON_GPU if self._on_gpu else 1)

    @property
    def device_name(self) -> str:
        """Where it computes: "cpu", "cuda", "cuda:1"."""
        return self._device

    @property
    def device(self) -> "torch.device":
        """Where it computes. Needs torch."""
        with needing_torch("device"):
            import torch
        return torch.device(self._device)

    @property
    def dtype(self) -> "torch.dtype":
        """What it computes in, in torch's words. Needs torch."""
        with needing_torch("dtype"):
            import torch
        found: torch.dtype = getattr(torch, self._dtype)
        return found

    @functools.cached_property
    def bilm(self) -> "BiLM":
        """The network as a module of torch's: frozen, on the device, in its type. Needs torch."""
        with needing_torch("bilm"):
            from elmo.model.bilm import BiLM
            from elmo.model.frozen import frozen_copy
        if isinstance(self._runner, BiLM):
            return self._runner
        return frozen_copy(self.model.bilm).to(self.device, self.dtype)

    @property
    def dim(self) -> int:
        """Size of one token's vector."""
        return self.model.config.output_dim

    @property
    def layer_count(self) -> int:
        """How many layers `layers="all"` gives."""
        return self.model.config.layer_count

    @property
    def vector_dtype(self) -> str:
        """The type of the vectors that come out: float64 in that precision, else float32."""
        return "float64" if self._dtype == "float64" else "float32"

    def embed_tokens(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        layers: Layers,
        texts: Sequence[int] | None = None,
        dtype: StoredDtype | None = None,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
    ) -> list[Vectors]:
        """Token lists to an array [T, D] or [L, T, D] each; the layer under `encode`.

        `texts` are numbers of consecutive sentences that share one array. `dtype` is float32 if not given, float64 in
        that precision.
        """
        counts = None if texts is None else np.array(texts, dtype=np.int64)
        results, _ = self.embed_numbered(
            number_sentences(sentences),
            layers=layers,
            texts=counts,
            dtype=dtype,
            batch_size=batch_size,
            show_progress_bar=show_progress_bar,
        )
        return [results.of_text(number) for number in range(len(results))]

    def embed_numbered(
        self,
        sentences: NumberedSentences,
        *,
        layers: Layers,
        texts: Integers | None = None,
        dtype: StoredDtype | None = None,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
        carried: State | None = None,
        finished: Callable[[Sequence[int]], None] | None = None,
        advanced: Callable[[int], None] = lambda _: None,
        empty: Callable[[tuple[int, int], Any], Vectors] = np.empty,
    ) -> tuple[Results, State | None]:
        """The same of sentences whose words are numbered.

        In state "carry" the state of each batch row goes on to the next batch: it starts from `carried` (zero if none)
        and comes back as the second result, so that a corpus can be embedded in pieces. `finished` is told the
        numbers of the sentences of each batch when it is done, and `advanced` so many tokens more, also within a
        sentence that goes through in windows. `empty` gives the memory for the results.
        """
        if batch_size is None:
            batch_size = BATCH_SIZE_ON_GPU if self._on_gpu and self.state != "carry" else BATCH_SIZE
        results = Results(
            sentences.lengths,
            texts=texts,
            layers=self.layer_count if layers == "all" else None,
            dim=self.dim,
            dtype=dtype or self.vector_dtype,
            empty=empty,
        )
        count = len(sentences.lengths)
        bar = tqdm(
            total=count,
            unit="sentence",
            delay=BAR_AFTER_SECONDS if show_progress_bar is None else 0,
            disable=None if show_progress_bar is None else not show_progress_bar,
        )

        def report(batch: Sequence[int]) -> None:
            bar.update(len(batch))
            if finished is not None:
                finished(batch)

        with bar, self._outbox() as outbox, computing(self._runner, threads=self.num_threads):
            together = BatchEmbedder(
                sentences=sentences,
                results=results,
                forward=self._forward,
                runner=self._runner,
                words=WordsOfCall(sentences, self._cache, at_once=self._on_gpu),
                boundaries=self._boundaries,
                layers=layers,
                outbox=outbox,
                most_positions=self._most_positions,
                advanced=advanced,
            )
            if self.state == "carry":
                carried = carried if carried is not None else self._runner.zero_state(0)
                for batch in in_order(count, most_sentences=batch_size):
                    carried = widened(carried, self._runner.zero_state(len(batch)))
                    with self._turn():
                        start = carried.rows(slice(None, len(batch)))
                        after = together.embed(np.array(batch, dtype=np.int64), start)
                    carried = with_first_rows(carried, after)
                    report(batch)
            else:
                for batch in self._batches(sentences.lengths, batch_size):
                    with self._turn():
                        together.embed(np.array(batch, dtype=np.int64), self._start(len(batch)))
                    report(batch)
        self._warn_of_cut_words()
        return results, carried

    def _outbox(self) -> "contextlib.AbstractContextManager[Outbox | None]":
        """What brings vectors from a GPU to the host while the next batch is computed."""
        if not self._on_gpu:
            return contextlib.nullcontext()
        from elmo.embed.outbox import Outbox

        return Outbox(self.device)

    def _batches(self, lengths: Sequence[int] | Integers, batch_size: int) -> list[list[int]]:
        """Numbers of sentences that go through together."""
        return by_length(
            lengths,
            most_sentences=batch_size,
            most_positions=self._most_positions,
            shortest=SHORTEST_ON_GPU if self._on_gpu else 0.0,
        )

    def _start(self, rows: int) -> State:
        return self._runner.settled_state(rows) if self.state == "settled" else self._runner.zero_state(rows)

    def state_of(self, h: npt.NDArray[Any], c: npt.NDArray[Any]) -> State:
        """A carried state, from the arrays that `host` made of it."""
        like = self._runner.zero_state(0)
        return State(*(cast(placed(array, like=zero), like=zero) for array, zero in zip((h, c), like, strict=True)))

    def save_pretrained(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model as a native directory that `elmo.load` reads; `overwrite` replaces one that is there."""
        write_model(self.model, Path(directory), overwrite=overwrite)

    def __repr__(self) -> str:
        name = "" if self._reference is None else f"{self._reference.name_or_path!r}, "
        return (
            f"Embedder({name}{self.layer_count} layers of {self.dim}, device={self._device!r}, "
            f"precision={self.precision!r}, state={self.state!r})"
        )

    def __reduce__(self) -> tuple[Callable[..., "Embedder"], tuple[Reference]]:
        if self._reference is None:
            raise TypeError(
                "this Embedder was made from a model in memory and has no files to refer to; "
                "save it with save_pretrained and use elmo.load on the directory"
            )
        return _load_again, (self._reference,)

    def _encode_words(self, words: Sequence[str]) -> Array:
        cut = self.model.cut_words(words)
        if cut:
            with self._lock.held():
                self._cut_words += cut
        return self._word_rows(self._spell(words))

    def _spell(self, words: Sequence[str]) -> npt.NDArray[np.integer[Any]]:
        return self.model.spell_as_originals(words) if self.state == "carry" else self.model.spell(words)

    def _word_rows(self, rows: npt.NDArray[np.integer[Any]]) -> Array:
        return word_vectors(self._runner.tokens, rows_for(self._runner, rows))

    def _warn_of_cut_words(self) -> None:
        """Name the words that were met for the first time and did not fit their row."""
        if self._cut_words:
            with self._lock.held():
                cut, self._cut_words = self._cut_words, []
                level = logging.INFO if self._told_of_cut_words else logging.WARNING  # a server would drown in them
                self._told_of_cut_words = True
            logger.log(
                level,
                "%d distinct %s longer than the model reads (with most models 48 bytes of UTF-8: 48 Latin letters, 16 "
                "CJK characters) cut: %s",
                len(cut),
                "word" if len(cut) == 1 else "words",
                ", ".join(f"{word[:20]!r}... ({len(word)} characters)" for word in cut[:3]),
            )

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """On a CPU calls run side by side. On a GPU batches take turns: they share recorded graphs and their memory."""
        if not self._on_gpu:
            yield
            return
        import torch

        with self._lock.held():
            # A thread may have a stream of its own, which the lock does not order: what was queued before ends first.
            stream = torch.cuda.current_stream(self.device)
            if self._queued is not None:
                stream.wait_event(self._queued)
            try:
                yield
            finally:
                self._queued = stream.record_event()


def _load_again(reference: Reference) -> Embedder:
    from elmo.embed.loading import load

    given = reference._asdict()
    del given["files"]
    return load(**given)
