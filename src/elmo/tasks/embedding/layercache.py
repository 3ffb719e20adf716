"""The layers of a frozen biLM, computed once for all sentences of a run: in memory, or in a folder of mapped files.

Numbers are kept as float16: the layers of a biLM lie within a few units of zero, where that is three digits.
L layers, D size of a vector, N texts, T tokens of the longest one. Tokens are numbered through all sentences.
"""

import hashlib
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from tqdm import tqdm

from elmo.disk.bounded import remove_oldest
from elmo.disk.guarded.arrayfiles import map_npy
from elmo.disk.locking import locked
from elmo.disk.writing import atomic_path
from elmo.embed.batches import by_length
from elmo.embed.module import Elmo
from elmo.errors import ConfigError
from elmo.ops.device import free_memory
from elmo.ops.threadlock import ThreadLock
from elmo.tasks.examples import Sentence
from elmo.tasks.ragged import Integers, row_starts

logger = logging.getLogger(__name__)

SUFFIX = ".layers.npy"
BYTES = 2  # of a float16
FRACTION_OF_FREE_MEMORY = 0.5
MEMORY_IF_UNKNOWN = 4 << 30
BAR_AFTER_SECONDS = 1.0
# Sentences and positions of one run through the biLM; a GPU wants more at once.
CPU_BATCH, CUDA_BATCH = (64, 4096), (512, 32768)

TOKENS_AT_ONCE = 1 << 16  # copied from a file to the device

Map = npt.NDArray[np.float16]


@dataclass(frozen=True, kw_only=True)
class CacheConfig:
    """Where layers are kept. Without a `folder` only in memory, up to `memory` bytes a device (half of what is free).

    A folder keeps them for later runs with the same biLM and sentences, up to `disk` bytes; files used longest ago go.
    """

    folder: Path | None = None
    memory: int | None = None
    disk: int = 64_000_000_000

    def __post_init__(self) -> None:
        if (self.memory is not None and self.memory < 0) or self.disk < 0:
            raise ConfigError(f"cache memory is {self.memory} and disk {self.disk}; they must not be negative")


class CachedLayers:
    """Layers [tokens, L, D] of all sentences behind each other, on the device or mapped from a file."""

    def __init__(self, layers: Tensor | Map, device: torch.device) -> None:
        self._layers, self._device = layers, device

    @property
    def bytes_in_memory(self) -> int:
        """What they take of the device's memory."""
        return self._layers.nbytes if isinstance(self._layers, Tensor) else 0

    @property
    def on_device(self) -> bool:
        """Whether they are there already when they are asked for."""
        return isinstance(self._layers, Tensor)

    def gather(self, places: Tensor) -> Tensor:
        """The layers of the tokens with these numbers [N, T], as `Elmo.mix` takes them: [L, N, T, D]."""
        if isinstance(self._layers, Tensor):
            found = self._layers[places]  # [N, T, L, D]
        else:
            found = torch.from_numpy(self._layers[places.cpu().numpy()]).to(self._device)
        return found.permute(2, 0, 1, 3).float()


class LayerStore:
    """Layers of sets of sentences. What is in memory is shared by all runs that use the same store."""

    def __init__(self, config: CacheConfig | None = None) -> None:
        self.config = config or CacheConfig()
        self._lock = ThreadLock()
        self._held: dict[tuple[str, torch.device], CachedLayers] = {}

    def layers(self, elmo: Elmo, sentences: Sequence[Sentence]) -> CachedLayers | None:
        """The layers of all sentences; None, with a warning, where there is no room: then each batch has its own."""
        name = _name(elmo, sentences)
        with self._lock.held():
            if (name, elmo.device) not in self._held:
                found = _find_layers(elmo, sentences, self.config, name, room=self._room(elmo.device))
                if found is None:
                    return None
                self._held[name, elmo.device] = found
            return self._held[name, elmo.device]

    def _room(self, device: torch.device) -> int:
        """Bytes of a device's memory that may still be used."""
        if self.config.memory is not None:
            held = sum(layers.bytes_in_memory for (_, place), layers in self._held.items() if place == device)
            return self.config.memory - held
        free = free_memory(device)
        return MEMORY_IF_UNKNOWN if free is None else int(FRACTION_OF_FREE_MEMORY * free)


def _find_layers(
    elmo: Elmo, sentences: Sequence[Sentence], config: CacheConfig, name: str, *, room: int
) -> CachedLayers | None:
    device = elmo.device
    tokens, L, D = sum(map(len, sentences)), elmo.layer_count, elmo.dim
    needed = BYTES * tokens * L * D
    if config.folder is not None and needed <= config.disk:
        path = config.folder / f"{name}{SUFFIX}"
        layers = _from_folder(elmo, sentences, path, (tokens, L, D), most_bytes=config.disk)
        if needed <= room:
            loaded = torch.empty(tokens, L, D, dtype=torch.float16, device=device)
            for start in range(0, tokens, TOKENS_AT_ONCE):
                piece = np.array(layers[start : start + TOKENS_AT_ONCE])
                loaded[start : start + TOKENS_AT_ONCE] = torch.from_numpy(piece).to(device)
            return CachedLayers(loaded, device)
        return CachedLayers(layers, device)
    if needed <= room:
        in_memory = torch.empty(tokens, L, D, dtype=torch.float16, device=device)
        for places, rows in layer_batches(elmo, sentences):
            in_memory[places] = rows.half()
        return CachedLayers(in_memory, device)
    limit = "" if config.folder is None else f" and {config.disk / 1e9:.1f} GB in {config.folder}"
    logger.warning(
        "the layers of %d tokens take %.1f GB, but %.1f GB of memory%s may be used; they are computed anew in every "
        "epoch, which is slow: name a cache folder (--cache) on a disk with that much room",
        tokens,
        needed / 1e9,
        max(room, 0) / 1e9,
        limit,
    )
    return None


def _name(elmo: Elmo, sentences: Sequence[Sentence]) -> str:
    """Equal for equal sentences, layers and biLM."""
    digest = hashlib.sha256(f"{elmo.model.sha256} {elmo.state} {elmo.layer_count}\n".encode())
    for sentence in sentences:
        digest.update("\x1f".join(sentence).encode("utf-8", "surrogatepass") + b"\x1e")
    return digest.hexdigest()[:32]


def _from_folder(
    elmo: Elmo, sentences: Sequence[Sentence], path: Path, shape: tuple[int, int, int], *, most_bytes: int
) -> Map:
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.with_suffix(".lock"), busy=lambda: logger.info("%s: another process computes it; waiting", path)):
        found = _open_map(path)
        while found is None:  # until it is open, another process may remove it to make room for its own
            room = most_bytes - BYTES * shape[0] * shape[1] * shape[2]
            for removed in remove_oldest(path.parent.glob(f"*{SUFFIX}"), most_bytes=room):
                logger.info("%s: removed to make room", removed)
            with atomic_path(path) as temporary:
                layers: Any = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.float16, shape=shape)
                for places, rows in layer_batches(elmo, sentences):
                    layers[places.cpu().numpy()] = rows.half().cpu().numpy()
                layers.flush()
                del layers
            found = _open_map(path)
    if found.shape != shape or found.dtype != np.float16:
        raise ConfigError(f"{path}: holds {found.dtype} {list(found.shape)}, but float16 {list(shape)}; remove it")
    return found


def _open_map(path: Path) -> Map | None:
    try:
        os.utime(path)  # used now: the last to be removed
    except FileNotFoundError:
        return None
    try:
        return map_npy(path, refusal=ConfigError)
    except ConfigError as error:
        raise ConfigError(f"{error}; remove it, and it is made anew") from None


def layer_batches(elmo: Elmo, sentences: Sequence[Sentence]) -> Iterator[tuple[Tensor, Tensor]]:
    """Sentences through the biLM batch by batch: the numbers of their tokens, and the layers of those [.., L, D]."""
    most_sentences, most_positions = CUDA_BATCH if elmo.device.type == "cuda" else CPU_BATCH
    lengths: Integers = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    starts = row_starts(lengths)
    batches = by_length(lengths.tolist(), most_sentences=most_sentences, most_positions=most_positions)
    with (
        torch.no_grad(),
        tqdm(total=len(sentences), desc="layers", unit="sentence", delay=BAR_AFTER_SECONDS, disable=None) as bar,
    ):
        for batch in batches:
            if lengths[batch[0]]:  # the longest of them
                layers, mask = elmo.layers([sentences[n] for n in batch])
                places = np.concatenate([np.arange(starts[n], starts[n] + lengths[n]) for n in batch])
                yield torch.from_numpy(places).to(elmo.device), layers.permute(1, 2, 0, 3)[mask]
            bar.update(len(batch))
