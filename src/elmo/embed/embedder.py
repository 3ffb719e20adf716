"""`Embedder.encode`: sentences in, vectors out, in input order. The same call never gives two answers."""

import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from tqdm import tqdm

from elmo.embed.batches import BOUNDARIES, by_length, in_order
from elmo.embed.contextualize import Forward, contextualize, contextualize_long
from elmo.embed.cputhreads import CPU_THREADS
from elmo.embed.graphs import CapturedBiLM
from elmo.embed.selection import Layers, Pooling, check_layers, join_pieces, pool, select_layers, sentence_rows
from elmo.embed.sentences import read_sentences
from elmo.embed.wordcache import WordCache
from elmo.embed.wordrows import word_vectors
from elmo.errors import ConfigError
from elmo.model.bilm import BiLM
from elmo.model.bilstm import State
from elmo.model.choices import StateMode
from elmo.model.frozen import frozen_copy
from elmo.model.packed import PackedBiLM, can_pack
from elmo.ops.cpu.bfloat16 import cpu_runs_bfloat16
from elmo.ops.cpu.packed_file import PackedFile
from elmo.ops.device import choose_device
from elmo.ops.gpu.transfer import to_device
from elmo.ops.threadlock import ThreadLock
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel

logger = logging.getLogger(__name__)

Array = npt.NDArray[np.float32]

STATES = ("settled", "zero", "carry")
DTYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "int8": torch.float32,  # of everything but the weights
}
POSITIONS_FACTOR_ON_GPU = 16
BATCH_SIZE, BATCH_SIZE_ON_GPU = 64, 1024
SHORTEST_ON_GPU = 0.8  # of a batch's longest sentence
MOST_POSITIONS = 4096  # rows x steps in one batch; a longer sentence goes through in windows of this many steps
SMALLEST_WINDOW = 16
BAR_AFTER_SECONDS = 1.0


class Reference(NamedTuple):
    """How to load an embedder again: what was given to `elmo.load`."""

    name_or_path: str
    device: str | None
    precision: str | None
    state: StateMode
    num_threads: int | None
    options: str | None
    offline: bool


class Embedder:
    """A biLM ready to embed. Nothing is remembered between calls but the vectors of words.

    Made by `elmo.load`. Pickles as a reference to the model's files, not with its weights. Threads may share one.
    `device`, `precision`, `state` and `num_threads` are as in `elmo.load`, `dtype` is the torch type that is computed
    in, `model` is the model as it was read (its tokenizer and vocabulary, its weights as they are stored), and `bilm`
    its network as it is used here: frozen, on the device.
    """

    def __init__(
        self,
        model: LoadedModel,
        *,
        device: str | None = None,
        precision: str | None = None,
        state: StateMode = "settled",
        num_threads: int | None = None,
        reference: Reference | None = None,
        packed: PackedFile | None = None,
    ) -> None:
        if state not in STATES:
            raise ConfigError(f"state is {state!r}; it must be one of {', '.join(STATES)}")
        if num_threads is not None and num_threads < 1:
            raise ConfigError(f"num_threads is {num_threads}; it must be at least 1")
        self.device = choose_device(device)
        self.dtype = _choose_dtype(precision, self.device)
        self.precision = str(self.dtype).removeprefix("torch.")
        self.state = state
        self.num_threads = num_threads
        self.model = model
        self.bilm = frozen_copy(model.bilm).to(self.device, self.dtype)
        self._runner = self._prepare(int8=precision == "int8", packed=packed)
        self._reference = reference
        with torch.inference_mode():
            self._boundaries = self._word_rows(model.boundary_rows())  # [2, D]
        self._lock = ThreadLock()
        self._cut_words: list[str] = []
        self._told_of_cut_words = False
        self._cache = WordCache(self._encode_words, size=self._boundaries.shape[1])
        self._forward: Forward = self._runner
        if self.device.type == "cuda" and state != "carry" and self.bilm.config.lstm.carries_state:
            self._forward = CapturedBiLM(self.bilm, start=self._start(1))

    @property
    def _most_positions(self) -> int:
        return MOST_POSITIONS * (POSITIONS_FACTOR_ON_GPU if self.device.type == "cuda" else 1)

    def _prepare(self, *, int8: bool, packed: PackedFile | None) -> BiLM | PackedBiLM:
        """The biLM itself, or its copy for a CPU's kernels where that is faster."""
        if self.device.type == "cpu" and can_pack(self.bilm):
            self.precision = "int8" if int8 else "float32"
            return PackedBiLM(self.bilm, int8=int8, file=packed)
        if int8:
            logger.warning(
                "precision int8 needs a CPU, a C++ compiler (g++) and a model with its own biLSTM; computing in %s",
                self.precision,
            )
        return self.bilm

    @property
    def dim(self) -> int:
        """Size of one token's vector."""
        return self.bilm.config.output_dim

    @property
    def layer_count(self) -> int:
        """How many layers `layers="all"` gives."""
        return self.bilm.config.layer_count

    def encode(
        self,
        sentences: str | Sequence[str] | Sequence[Sequence[str]],
        *,
        layers: Layers = "mean",
        pooling: Pooling | None = None,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
        convert_to_numpy: bool = True,
        normalize: bool = False,
        return_tokens: bool = False,
        split_sentences: bool = True,
    ) -> Any:
        """Vectors for each token of each sentence.

        `sentences`: a `str` is raw text and gives one result; a list of `str` is raw texts, tokenized by the model's
        rule; a list of lists of `str` is tokens, each list one sentence, taken as they are.
        `split_sentences`: a raw text may have several sentences. They are embedded one by one, and the vectors of all
        tokens of the text come back in one result. With False each text is one sentence.
        `layers`: the mean of all layers, the top one, all of them, or one by its number (0: the tokens, -1: the top).
        Without `pooling`: a list of [T, D] (or [L, T, D] for "all"), one row a token. With it: one array [N, D]
        (or [N, L, D]), the mean or the maximum over a text's tokens (zeros where it has none).
        `normalize` scales every vector to length 1. `show_progress_bar=None` shows a bar on a terminal after a second.
        `return_tokens=True` gives a pair: the vectors, and each text's tokens, a `Tokens` (a sequence of words, with
        `words`, `starts` and `offsets` in characters of the raw text, and `sentence_starts`), or the list of tokens
        that was given. `batch_size` is sentences, at most: 64, and 1024 on a GPU, if it is None.
        """
        check_layers(layers, self.layer_count)
        if pooling not in (None, "mean", "max"):
            raise ConfigError(f"pooling is {pooling!r}; it must be 'mean', 'max' or None")
        if batch_size is not None and batch_size < 1:
            raise ConfigError(f"batch_size is {batch_size}; it must be at least 1")
        single = isinstance(sentences, str)
        texts = read_sentences(sentences, self.model.tokenizer, split=split_sentences)
        vectors, _ = self.embed_tokens(
            [piece for text in texts for piece in text.pieces],
            layers=layers,
            batch_size=batch_size,
            show_progress_bar=show_progress_bar,
        )
        results = join_pieces([len(text.pieces) for text in texts], vectors)
        if pooling is not None:
            results = [pool(result, pooling) for result in results]
        if normalize:
            results = [torch.nn.functional.normalize(result, dim=-1) for result in results]
        output: Any = [result.numpy() for result in results] if convert_to_numpy else results
        if single:
            output = output[0]
        elif pooling is not None:
            output = _stack(results, self._empty(layers, pooled=True), numpy=convert_to_numpy)
        if return_tokens:
            tokens = [text.tokens for text in texts]
            return output, tokens[0] if single else tokens
        return output

    def embed_tokens(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        layers: Layers,
        batch_size: int | None = None,
        show_progress_bar: bool | None = None,
        carried: State | None = None,
        finished: Callable[[Sequence[int]], None] | None = None,
        advanced: Callable[[int], None] = lambda _: None,
    ) -> tuple[list[Tensor], State | None]:
        """Token lists to a float32 tensor [T, D] or [L, T, D] each, on the CPU; the layer under `encode`.

        In state "carry" the state of each batch row goes on to the next batch: it starts from `carried` (zero if none)
        and comes back as the second result, so that a corpus can be embedded in pieces. `finished` is told the
        numbers of the sentences of each batch when it is done, and `advanced` so many tokens more, also within a
        sentence that goes through in windows.
        """
        if batch_size is None:
            batch_size = BATCH_SIZE_ON_GPU if self.device.type == "cuda" and self.state != "carry" else BATCH_SIZE
        results: list[Tensor] = [torch.empty(0)] * len(sentences)
        bar = tqdm(
            total=len(sentences),
            unit="sentence",
            delay=BAR_AFTER_SECONDS if show_progress_bar is None else 0,
            disable=None if show_progress_bar is None else not show_progress_bar,
        )

        def report(batch: Sequence[int]) -> None:
            bar.update(len(batch))
            if finished is not None:
                finished(batch)

        with bar, self._threads(), torch.inference_mode():
            if self.state == "carry":
                carried = carried if carried is not None else self.bilm.zero_state(0)
                for batch in in_order(len(sentences), most_sentences=batch_size):
                    carried = _widen(carried, self.bilm.zero_state(len(batch)))
                    with self._turn():
                        start = _head(carried, len(batch))
                        rows, after = self._embed_batch([sentences[n] for n in batch], layers, start, advanced)
                    carried = _replace_head(carried, after)
                    for n, vectors in zip(batch, rows, strict=True):
                        results[n] = vectors
                    report(batch)
            else:
                for batch in self._batches([len(s) for s in sentences], batch_size):
                    with self._turn():
                        start = self._start(len(batch))
                        rows, _ = self._embed_batch([sentences[n] for n in batch], layers, start, advanced)
                    for n, vectors in zip(batch, rows, strict=True):
                        results[n] = vectors
                    report(batch)
        self._warn_of_cut_words()
        return results, carried

    def _batches(self, lengths: Sequence[int], batch_size: int) -> list[list[int]]:
        """Numbers of sentences that go through together."""
        return by_length(
            lengths,
            most_sentences=batch_size,
            most_positions=self._most_positions,
            shortest=SHORTEST_ON_GPU if self.device.type == "cuda" else 0.0,
        )

    def _contextualize(
        self, sentences: Sequence[Sequence[str]], state: State | None = None
    ) -> tuple[Tensor, Tensor, State]:
        """One batch, the longest sentence first -> layers on the device, lengths, state; see `embed.contextualize`."""
        start = self._start(len(sentences)) if state is None else state
        return contextualize(self._forward, self._cache.look_up, self._boundaries, sentences, start)

    def _start(self, rows: int) -> State:
        return self.bilm.settled_state(rows) if self.state == "settled" else self.bilm.zero_state(rows)

    def save_pretrained(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model as a native directory that `elmo.load` reads; `overwrite` replaces one that is there."""
        write_model(self.model, Path(directory), overwrite=overwrite)

    def __repr__(self) -> str:
        name = "" if self._reference is None else f"{self._reference.name_or_path!r}, "
        return (
            f"Embedder({name}{self.layer_count} layers of {self.dim}, device={str(self.device)!r}, "
            f"precision={self.precision!r}, state={self.state!r})"
        )

    def __reduce__(self) -> tuple[Callable[..., "Embedder"], tuple[Reference]]:
        if self._reference is None:
            raise TypeError(
                "this Embedder was made from a model in memory and has no files to refer to; "
                "save it with save_pretrained and use elmo.load on the directory"
            )
        return _load_again, (self._reference,)

    def _embed_batch(
        self, sentences: list[Sequence[str]], layers: Layers, state: State, advanced: Callable[[int], None]
    ) -> tuple[list[Tensor], State]:
        """One batch, halved and tried again for as long as memory does not suffice."""
        widest = max(len(s) for s in sentences) + BOUNDARIES
        try:
            if len(sentences) == 1 and widest > self._most_positions:
                return self._embed_long(sentences[0], layers, state, advanced, window=self._most_positions)
            if len(sentences) * widest <= 2 * self._most_positions:
                embedded = self._embed_rows(sentences, layers, state)
                advanced(sum(map(len, sentences)))
                return embedded
        except (torch.OutOfMemoryError, RuntimeError) as error:
            if not _is_out_of_memory(error):
                raise
            if len(sentences) == 1:
                return self._embed_in_smaller_windows(sentences[0], layers, state, advanced, error)
            logger.warning("out of memory with %d sentences of %d tokens; halving", len(sentences), widest)
            if self.device.type == "cuda":
                torch.cuda.empty_cache()
        # A batch over the budget comes only from state "carry", whose batches are the caller's; rows are independent.
        half = len(sentences) // 2
        left, left_state = self._embed_batch(sentences[:half], layers, state.rows(slice(None, half)), advanced)
        right, right_state = self._embed_batch(sentences[half:], layers, state.rows(slice(half, None)), advanced)
        return left + right, State(
            torch.cat([left_state.h, right_state.h], dim=2), torch.cat([left_state.c, right_state.c], dim=2)
        )

    def _embed_in_smaller_windows(
        self,
        sentence: Sequence[str],
        layers: Layers,
        state: State,
        advanced: Callable[[int], None],
        error: Exception,
    ) -> tuple[list[Tensor], State]:
        window = min(self._most_positions, len(sentence) + BOUNDARIES) // 2
        while window >= SMALLEST_WINDOW:
            logger.warning("out of memory with a sentence of %d tokens; windows of %d", len(sentence), window)
            try:
                return self._embed_long(sentence, layers, state, advanced, window=window)
            except (torch.OutOfMemoryError, RuntimeError) as again:
                if not _is_out_of_memory(again):
                    raise
                window //= 2
        raise error

    def _embed_rows(self, sentences: list[Sequence[str]], layers: Layers, state: State) -> tuple[list[Tensor], State]:
        stacked, lengths, after = self._contextualize(sentences, state)
        chosen = select_layers(stacked, layers)  # [N, T, D] or [L, N, T, D]
        return sentence_rows(chosen, (lengths - 1).tolist()), after

    def _embed_long(
        self, sentence: Sequence[str], layers: Layers, state: State, advanced: Callable[[int], None], *, window: int
    ) -> tuple[list[Tensor], State]:
        P = self.bilm.config.lstm.output_dim
        result = self._empty(layers, tokens=len(sentence))
        after = state
        pieces = contextualize_long(self._runner, self._cache.look_up, self._boundaries, sentence, state, window=window)
        for piece in pieces:
            if isinstance(piece, State):
                after = piece
                continue
            direction, span, stacked = piece  # stacked: [L + 1, t, P]
            first, last = max(span.start, 1), min(span.stop, len(sentence) + 1)  # without the boundaries
            if first < last:
                chosen = select_layers(stacked[:, first - span.start : last - span.start], layers).float().cpu()
                result[..., first - 1 : last - 1, direction * P : (direction + 1) * P] = chosen
                if direction == 0:
                    advanced(last - first)
        return [result], after

    def _empty(self, layers: Layers, *, tokens: int = 0, pooled: bool = False) -> Tensor:
        shape = (self.layer_count,) if layers == "all" else ()
        return torch.zeros(*shape, *(() if pooled else (tokens,)), self.dim)

    def _encode_words(self, words: Sequence[str]) -> Tensor:
        cut = self.model.cut_words(words)
        if cut:
            with self._lock.held():
                self._cut_words += cut
        return self._word_rows(self._spell(words))

    def _spell(self, words: Sequence[str]) -> npt.NDArray[np.integer[Any]]:
        return self.model.spell_as_originals(words) if self.state == "carry" else self.model.spell(words)

    def _word_rows(self, rows: npt.NDArray[np.integer[Any]]) -> Tensor:
        return word_vectors(self._runner.tokens, to_device(torch.from_numpy(rows), self.device))

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
                ", ".join(f"{word[:20]}... ({len(word)} characters)" for word in cut[:3]),
            )

    @contextlib.contextmanager
    def _threads(self) -> Iterator[None]:
        if self.num_threads is None:
            yield
            return
        with CPU_THREADS.set_to(self.num_threads):
            yield

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """On a CPU calls run side by side. On a GPU batches take turns: they share recorded graphs and their memory."""
        if self.device.type == "cpu":
            yield
            return
        with self._lock.held():
            yield


def _choose_dtype(name: str | None, device: torch.device) -> torch.dtype:
    if name is not None and name not in DTYPES:
        raise ConfigError(f"precision is {name!r}; it must be one of {', '.join(DTYPES)}")
    dtype = DTYPES[name or "float32"]
    if device.type == "cpu" and dtype == torch.float16:
        logger.warning("precision float16 is not used on a CPU, where it gains nothing; computing in float32")
        return torch.float32
    if device.type == "cpu" and dtype == torch.bfloat16 and not cpu_runs_bfloat16():
        logger.warning("precision bfloat16 failed a trial on this CPU; computing in float32 (int8 is faster)")
        return torch.float32
    return dtype


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, torch.OutOfMemoryError):
        return True
    message = str(error)
    return "DefaultCPUAllocator" in message or "out of memory" in message


def _stack(results: list[Tensor], empty: Tensor, *, numpy: bool) -> Any:
    stacked = torch.stack(results) if results else empty.new_zeros(0, *empty.shape)
    return stacked.numpy() if numpy else stacked


def _head(state: State, rows: int) -> State:
    return state.rows(slice(None, rows))


def _widen(state: State, zeros: State) -> State:
    """`state` with rows of `zeros` added until it has as many."""
    have = state.h.shape[2]
    extra = zeros.rows(slice(have, None))
    return State(torch.cat([state.h, extra.h], dim=2), torch.cat([state.c, extra.c], dim=2))


def _replace_head(state: State, head: State) -> State:
    n = head.h.shape[2]
    rest = state.rows(slice(n, None))
    return State(torch.cat([head.h, rest.h], dim=2), torch.cat([head.c, rest.c], dim=2))


def _load_again(reference: Reference) -> Embedder:
    from elmo.embed.load import load

    return load(**reference._asdict())
