"""`TextTable`: all texts of a data set on the device, each distinct text and word once; batches come from it.

N texts of a batch, T tokens of its longest, W its distinct words, C characters of the longest of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from elmo.embed.module import Elmo
from elmo.tasks.embedding.layercache import CachedLayers, LayerStore
from elmo.tasks.embedding.wordlist import WordTable
from elmo.tasks.examples import Text
from elmo.tasks.training.ragged import Integers, Ragged
from elmo.text.chars import IN_WORD_PADDING, spell


@dataclass(frozen=True)
class TextBatch:
    """Some texts as a task model's embedding takes them."""

    words: Tensor  # [W], ids in the model's word table
    characters: Tensor  # [W, C]
    index: Tensor  # [N, T], which of the W words stands there
    mask: Tensor  # [N, T]
    lengths: Tensor  # [N], on the host
    layers: Tensor | None  # [L, N, T, D] of a frozen biLM
    tokens: list[Text]

    @property
    def device_lengths(self) -> Tensor:
        """The lengths where the other tensors are."""
        return self.mask.sum(1)


class TextTable:
    """Texts by number. `table` says what a word's id is; the layers of a frozen `elmo` are computed here, once."""

    def __init__(
        self,
        texts: Iterable[Text],
        *,
        table: WordTable | None,
        elmo: Elmo | None,
        device: torch.device,
        store: LayerStore | None = None,
    ) -> None:
        self._numbers: dict[Text, int] = {}
        for text in texts:
            self._numbers.setdefault(text, len(self._numbers))
        self.texts = list(self._numbers)
        places: dict[str, int] = {}
        rows = [[places.setdefault(word, len(places)) for word in text] for text in self.texts]
        self._ragged = Ragged.of(rows, device=device)
        self._flat = self._ragged.flat.cpu().numpy()
        self._starts = np.concatenate([[0], np.cumsum(self.lengths)])[:-1].astype(np.int64)
        words = list(places)
        self._ids = torch.tensor([0 if table is None else table.id_of(word) for word in words], device=device)
        characters = spell(words)  # [W, C]
        self._character_counts = (characters != IN_WORD_PADDING).sum(1)
        self._characters = torch.from_numpy(characters).to(device)
        self._layers: CachedLayers | None = None
        if elmo is not None and not elmo.train_bilm and self.texts:
            self._layers = (store or LayerStore()).layers(elmo, self.texts, self._ragged)

    @property
    def lengths(self) -> Integers:
        """Tokens of each text."""
        return self._ragged.lengths

    def numbers(self, texts: Sequence[Text]) -> Integers:
        """The numbers of texts that are in the table."""
        return np.fromiter((self._numbers[text] for text in texts), dtype=np.int64, count=len(texts))

    def batch(self, rows: Integers) -> TextBatch:
        """The texts with these numbers."""
        places, mask = self._ragged.places(rows)
        T, device = mask.shape[1], mask.device
        host = (self._starts[rows][:, None] + np.arange(T)).clip(max=max(0, len(self._flat) - 1))
        distinct, index = np.unique(self._flat[host], return_inverse=True)
        C = int(self._character_counts[distinct].max(initial=1))
        chosen = torch.from_numpy(distinct).to(device, non_blocking=True)
        return TextBatch(
            words=self._ids[chosen],
            characters=self._characters[chosen, :C].long(),
            index=torch.from_numpy(index.reshape(host.shape)).to(device, non_blocking=True),
            mask=mask,
            lengths=torch.from_numpy(self.lengths[rows]),
            layers=None if self._layers is None else self._layers.gather(places),
            tokens=[self.texts[n] for n in rows.tolist()],
        )
