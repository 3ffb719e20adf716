"""`TextTable`: all texts of a data set, each distinct sentence and word once; batches come from it.

Its sentences stand behind each other in one flat table of tokens: layers, words and characters are kept there once, and
a text is a row of places in it. Documents that share sentences, and windows of a document, share their tokens so.
N texts of a batch, T tokens of its longest, W its distinct words, C characters of the longest of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from elmo.embed.module import Elmo
from elmo.tasks.embedding.layercache import CachedLayers, LayerStore
from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.examples import Sentence, Text
from elmo.tasks.networks.padded import Padded
from elmo.tasks.ragged import Integers, Ragged, row_starts
from elmo.text.chars import IN_WORD_PADDING, spell


@dataclass(frozen=True)
class Unread:
    """The sentences of a batch for a biLM that reads them anew each time, and where their tokens stand in the texts."""

    sentences: list[Sentence]
    places: Tensor  # [N, T], numbers of tokens through all these sentences


@dataclass(frozen=True)
class TextBatch:
    """Some texts as a task model's embedding takes them."""

    words: Tensor  # [W], ids in the model's list of words
    characters: Tensor  # [W, C]
    index: Tensor | None  # [N, T], which of the W words stands there; None where they are those of the N * T positions
    mask: Tensor  # [N, T]
    lengths: Tensor | Padded  # [N], on the host, or what stands for them in a batch of a fixed shape
    sentence_lengths: list[list[int]]  # of each text, those of its sentences
    layers: Tensor | None  # [L, N, T, D], kept, of a frozen biLM
    unread: Unread | None  # where no layers are kept

    @property
    def device_lengths(self) -> Tensor:
        """The lengths where the other tensors are."""
        return self.mask.sum(1)

    @property
    def host_lengths(self) -> list[int]:
        """The lengths as numbers."""
        lengths: list[int] = (self.device_lengths if isinstance(self.lengths, Padded) else self.lengths).tolist()
        return lengths


class TextTable:
    """Texts by number. `word_list` says what a word's id is; the layers of a frozen `elmo` are computed here, once."""

    def __init__(
        self,
        texts: Iterable[Text],
        *,
        word_list: WordList | None,
        elmo: Elmo | None,
        device: torch.device,
        store: LayerStore | None = None,
    ) -> None:
        self._numbers: dict[Text, int] = {}
        sentences: dict[Sentence, int] = {}
        self._sentences_of: list[list[int]] = []
        for text in texts:
            if text not in self._numbers:
                self._numbers[text] = len(self._numbers)
                self._sentences_of.append([sentences.setdefault(s, len(sentences)) for s in text.sentences])
        self.sentences = list(sentences)
        self._elmo = elmo
        self._sentence_lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        self._texts = Ragged.of(self._places(self._sentences_of, row_starts(self._sentence_lengths)), device=device)
        words: dict[str, int] = {}
        numbers = [words.setdefault(word, len(words)) for sentence in self.sentences for word in sentence]
        # On the host: a GPU would have to be waited for to say how many distinct words a batch has.
        self._words_of_texts = np.array(numbers, dtype=np.int64)[self._texts.flat.cpu().numpy()]
        self._ids = torch.tensor([0 if word_list is None else word_list.id_of(word) for word in words], device=device)
        characters = spell(list(words))  # [W, C]
        self._character_counts = (characters != IN_WORD_PADDING).sum(1)
        self._characters = torch.from_numpy(characters).to(device)
        self._layers: CachedLayers | None = None
        if elmo is not None and not elmo.train_bilm and self.sentences:
            self._layers = (store or LayerStore()).layers(elmo, self.sentences)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def lengths(self) -> Integers:
        """Tokens of each text."""
        return self._texts.lengths

    def numbers(self, texts: Sequence[Text]) -> Integers:
        """The numbers of texts that are in the table."""
        return np.fromiter((self._numbers[text] for text in texts), dtype=np.int64, count=len(texts))

    def batch(self, rows: Integers) -> TextBatch:
        """The texts with these numbers."""
        places, mask = self._texts.padded(rows)
        T, device = mask.shape[1], mask.device
        last = max(0, len(self._words_of_texts) - 1)
        words = self._words_of_texts[(self._texts.starts[rows][:, None] + np.arange(T)).clip(max=last)]
        # Each distinct word once: the characters of a word are the dearest thing that the task itself computes.
        distinct, index = np.unique(words, return_inverse=True)
        C = int(self._character_counts[distinct].max(initial=1))
        chosen = torch.from_numpy(distinct).to(device, non_blocking=True)
        return TextBatch(
            words=self._ids[chosen],
            characters=self._characters[chosen, :C].long(),
            index=torch.from_numpy(index.reshape(words.shape)).to(device, non_blocking=True),
            mask=mask,
            lengths=torch.from_numpy(self.lengths[rows]),
            sentence_lengths=[self._sentence_lengths[self._sentences_of[n]].tolist() for n in rows.tolist()],
            layers=None if self._layers is None else self._layers.gather(places),
            unread=None if self._elmo is None or self._layers is not None else self._unread(rows),
        )

    @property
    def has_fixed_shapes(self) -> bool:
        """Whether `padded_batch` can be asked: all that it reads is on the device."""
        return self._elmo is None or (self._layers is not None and self._layers.on_device)

    def padded_batch(self, rows: Tensor, T: int) -> TextBatch:
        """Texts by their numbers on the device, in the shape [N, T]: no number on the host decides about anything."""
        positions, mask = self._texts.positions(rows, T)
        words = self._device_words[positions]  # [N, T]
        return TextBatch(
            words=self._ids[words],
            characters=self._characters[words.flatten(), : self._most_characters].long(),
            index=None,
            mask=mask,
            lengths=Padded(mask),
            sentence_lengths=[],
            layers=None if self._layers is None else self._layers.gather(self._texts.flat[positions]),
            unread=None,
        )

    @cached_property
    def _device_words(self) -> Tensor:
        return torch.from_numpy(self._words_of_texts).to(self._texts.flat.device)

    @cached_property
    def _most_characters(self) -> int:
        return int(self._character_counts.max(initial=1))

    def _unread(self, rows: Integers) -> Unread:
        used = [self._sentences_of[n] for n in rows.tolist()]
        local = {sentence: n for n, sentence in enumerate(dict.fromkeys(s for row in used for s in row))}
        starts = np.zeros(len(self.sentences), dtype=np.int64)
        starts[list(local)] = row_starts(self._sentence_lengths[list(local)])
        places, _ = Ragged.of(self._places(used, starts), device=self._texts.flat.device).padded(np.arange(len(rows)))
        return Unread([self.sentences[n] for n in local], places)

    def _places(self, texts: Sequence[Sequence[int]], starts: Integers) -> list[list[int]]:
        """The places of the tokens of texts, given by their sentences; `starts`: the first of each sentence."""
        first, last = starts.tolist(), (starts + self._sentence_lengths).tolist()
        return [[place for s in sentences for place in range(first[s], last[s])] for sentences in texts]
