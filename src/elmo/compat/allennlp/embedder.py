"""AllenNLP 0.9's `ElmoEmbedder`: lists of tokens in, numpy arrays of all layers out, and files of them.

N sentences, T tokens, L layers with the token layer, D size of a vector.
"""

import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, Literal

import h5py
import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from elmo.compat.allennlp.characters import ids_of_batch
from elmo.compat.allennlp.files import DEFAULT_OPTIONS_FILE, DEFAULT_WEIGHT_FILE, model_of_files
from elmo.compat.output import hdf5_output
from elmo.compat.reading import CarryingBiLM
from elmo.compat.rows import character_config, rows_of_batch
from elmo.embed.batches import BOUNDARIES
from elmo.errors import ConfigError, needing_torch
from elmo.ops.arrays import host, stack

if TYPE_CHECKING:
    from torch import Tensor

    from elmo.compat.allennlp.bilm import _ElmoBiLm

logger = logging.getLogger(__name__)

DEFAULT_BATCH_SIZE = 64
OUTPUT_FORMATS = ("all", "top", "average")

Array = npt.NDArray[np.float32]


class ElmoEmbedder:
    """All layers of each sentence: arrays [L, T, D], [3, T, 1024] for the original model.

    Each batch starts where the one before ended, row by row, so a sentence has other vectors each time;
    `reset_states()` forgets. `cuda_device`: the number of a GPU, -1 for the CPU.
    """

    def __init__(
        self,
        options_file: str | os.PathLike[str] | None = DEFAULT_OPTIONS_FILE,
        weight_file: str | os.PathLike[str] = DEFAULT_WEIGHT_FILE,
        cuda_device: int = -1,
    ) -> None:
        device = _device(cuda_device)
        self.cuda_device = cuda_device
        self._files = options_file, weight_file
        self._model = model_of_files(options_file, weight_file)
        self._characters = character_config(self._model.config).characters
        self._bilm = CarryingBiLM(self._model, device=device)

    @cached_property
    def elmo_bilm(self) -> "_ElmoBiLm":
        """AllenNLP's module, with this embedder's state: made when it is asked for. Needs torch.

        From then on it is what embeds: its weights may be changed.
        """
        with needing_torch("elmo_bilm"):
            from elmo.compat.allennlp.bilm import _ElmoBiLm

        module = _ElmoBiLm(*self._files)
        module._elmo_lstm = self._bilm.state
        return module if self.cuda_device < 0 else module.cuda(self.cuda_device)

    def reset_states(self) -> None:
        """Forget what was read before."""
        self._bilm.state.reset_states()

    def batch_to_embeddings(self, batch: Sequence[Sequence[str]]) -> tuple["Tensor", "Tensor"]:
        """Sentences of tokens -> activations [N, L, T, D], zero where there is no token, and their mask [N, T].

        Tensors, so that it needs torch; the other calls give arrays.
        """
        with needing_torch("batch_to_embeddings"):
            import torch

        activations, mask = self._embed(batch)
        device = _device(self.cuda_device)
        return torch.from_numpy(activations).to(device), torch.from_numpy(mask.astype(np.int64)).to(device)

    def embed_sentence(self, sentence: Sequence[str]) -> Array:
        """One sentence of tokens -> [L, T, D]."""
        return self.embed_batch([sentence])[0]

    def embed_batch(self, batch: Sequence[Sequence[str]]) -> list[Array]:
        """Sentences of tokens, run together -> [L, T, D] for each.

        A sentence without tokens gives [L, 0, D]. Alone in its batch it leaves the state as it is; beside others its
        row reads the two boundary tokens.
        """
        if len(batch) == 1 and len(batch[0]) == 0:
            return [np.zeros((self._bilm.config.layer_count, 0, self._bilm.config.output_dim), dtype=np.float32)]
        activations, mask = self._embed(batch)
        return [array[:, :length] for array, length in zip(activations, mask.sum(1).tolist(), strict=True)]

    def _embed(self, batch: Sequence[Sequence[str]]) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Activations [N, L, T, D], zero where there is no token, and where there is one: [N, T]."""
        if "elmo_bilm" in vars(self):
            layers, lengths = self._by_module(batch)
        else:
            layers, _, lengths = self._bilm(rows_of_batch(batch, characters=self._characters, boundaries=True))
        inner = lengths - BOUNDARIES
        mask = np.arange(max(0, layers.shape[2] - BOUNDARIES)) < inner[:, None]  # [N, T]
        layers = layers.transpose(1, 0, 2, 3)[:, :, 1:-1]  # [N, L, T, D]
        return np.where(mask[:, None, :, None], layers, np.float32(0)), mask

    def _by_module(self, batch: Sequence[Sequence[str]]) -> tuple[Array, npt.NDArray[np.int64]]:
        """Layers [L, N, T + 2, D] and lengths [N], boundaries included."""
        ids = ids_of_batch(batch, characters=self._characters)
        output = self.elmo_bilm(ids.to(self.elmo_bilm.bilm.settled_h.device))
        return host(stack(output["activations"])), host(output["mask"]).sum(1)

    def __getstate__(self) -> dict[str, Any]:
        # What computes is made anew from the model: compiled code has addresses of this process.
        return {**vars(self), "_bilm": self._bilm.state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._bilm = CarryingBiLM(self._model, device=_device(self.cuda_device))
        self._bilm.state = state["_bilm"]

    def embed_sentences(
        self, sentences: Iterable[Sequence[str]], batch_size: int = DEFAULT_BATCH_SIZE
    ) -> Iterator[Array]:
        """Sentences of tokens, `batch_size` at a time in their order -> [L, T, D] for each, as they come."""
        if batch_size < 1:
            raise ConfigError(f"batch_size is {batch_size}; it must be at least 1")
        batch: list[Sequence[str]] = []
        for sentence in sentences:
            batch.append(sentence)
            if len(batch) == batch_size:
                yield from self.embed_batch(batch)
                batch = []
        if batch:
            yield from self.embed_batch(batch)

    def embed_file(
        self,
        input_file: IO[str],
        output_file_path: str | os.PathLike[str],
        output_format: Literal["all", "top", "average"] = "all",
        batch_size: int = DEFAULT_BATCH_SIZE,
        forget_sentences: bool = False,
        use_sentence_keys: bool = False,
    ) -> None:
        """Embed a file of tokens with white space between, a sentence a line, into AllenNLP's HDF5 layout.

        One dataset a line, named by its number from 0, and `sentence_to_index`, which leads from a sentence to the
        number of its last line (not with `forget_sentences`). With `use_sentence_keys` the sentence is the name; a
        slash in it makes groups. The output appears when it is complete; `input_file` is closed.
        """
        if output_format not in OUTPUT_FORMATS:
            raise ConfigError(f"output_format is {output_format!r}; it must be one of {', '.join(OUTPUT_FORMATS)}")
        with input_file:
            sentences = [line.strip() for line in input_file]
        blank = [n for n, sentence in enumerate(sentences) if not sentence]
        if blank:
            raise ConfigError(f"the input has empty lines, at indexes {shown(blank)}; please remove them")
        if use_sentence_keys:
            logger.warning("sentences as keys: a slash in a sentence makes groups in the file")
        vectors = self.embed_sentences((sentence.split() for sentence in sentences), batch_size)
        with hdf5_output(output_file_path) as file:
            for n, layers in enumerate(tqdm(vectors, total=len(sentences), unit="sentence", disable=None)):
                key = sentences[n] if use_sentence_keys else str(n)
                if use_sentence_keys and key in file:
                    raise ConfigError(
                        f"{output_file_path}: line {n + 1} has the key of an earlier one ({key[:60]!r}); "
                        "leave use_sentence_keys out to embed sentences twice"
                    )
                _write(file, key, _chosen(layers, output_format), line=n + 1)
            if not forget_sentences and not use_sentence_keys:
                index = {sentence: str(n) for n, sentence in enumerate(sentences)}
                file.create_dataset("sentence_to_index", (1,), dtype=h5py.string_dtype(), data=json.dumps(index))


def _device(cuda_device: int) -> str:
    """The name of the device; a GPU that is not there is refused."""
    if cuda_device < 0:
        return "cpu"
    with needing_torch(f"cuda_device {cuda_device}"):
        import torch
    if cuda_device >= torch.cuda.device_count():
        raise ConfigError(f"cuda_device is {cuda_device}, but {torch.cuda.device_count()} GPUs are here; -1 is the CPU")
    return f"cuda:{cuda_device}"


def shown(numbers: list[int]) -> str:
    """A list of numbers as a message shows it."""
    return str(numbers) if len(numbers) <= 10 else f"[{', '.join(map(str, numbers[:10]))}, ...] ({len(numbers)} in all)"


def _chosen(layers: Array, output_format: str) -> npt.NDArray[Any]:
    if output_format == "all":
        return layers
    return layers[-1] if output_format == "top" else np.average(layers, axis=0)


def _write(file: h5py.File, key: str, data: npt.NDArray[Any], *, line: int) -> None:
    try:
        file.create_dataset(key, data=data, dtype="float32")
    except (ValueError, TypeError, OSError, RuntimeError) as error:
        raise ConfigError(
            f"line {line} cannot be a key of an HDF5 file ({error}): {key[:60]!r}; leave use_sentence_keys out"
        ) from error
