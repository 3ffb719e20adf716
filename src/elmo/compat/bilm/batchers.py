"""bilm-tf's `Batcher` and `TokenBatcher`: sentences of tokens to padded ids with boundaries, 0 where there is no token.

N sentences, T tokens, C characters in a row.
"""

import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from elmo.compat.bilm.vocabulary import UnicodeCharsVocabulary, Vocabulary
from elmo.compat.rows import character_rows, padded
from elmo.text.vocabulary import BEGIN_SENTENCE, END_SENTENCE

Ids = npt.NDArray[np.int64]


class Batcher:
    """Sentences to character ids. The vocabulary is read for bilm-tf's sake: any word can be spelled without it."""

    def __init__(self, lm_vocab_file: str | os.PathLike[str], max_token_length: int) -> None:
        self._lm_vocab = UnicodeCharsVocabulary(lm_vocab_file, max_token_length)
        self._max_token_length = max_token_length

    def batch_sentences(self, sentences: Sequence[Sequence[str]]) -> Ids:
        """Tokens without boundaries -> [N, T + 2, C]."""
        whole = _with_boundaries(sentences)
        rows = character_rows([word for sentence in whole for word in sentence], characters=self._max_token_length)
        return padded(rows, [len(sentence) for sentence in whole])


class TokenBatcher:
    """Sentences to word ids, for token embeddings that `dump_token_embeddings` made of the same vocabulary."""

    def __init__(self, lm_vocab_file: str | os.PathLike[str]) -> None:
        self._lm_vocab = Vocabulary(lm_vocab_file)
        self._lm_vocab.encode([], split=False)  # a vocabulary without boundaries fails here

    def batch_sentences(self, sentences: Sequence[Sequence[str]]) -> Ids:
        """Tokens without boundaries -> [N, T + 2]. A word that is not there is `<UNK>`."""
        whole = _with_boundaries(sentences)
        ids = [self._lm_vocab.word_to_id(word) + 1 for sentence in whole for word in sentence]
        return padded(np.array(ids, dtype=np.int64), [len(sentence) for sentence in whole])


def _with_boundaries(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[BEGIN_SENTENCE, *sentence, END_SENTENCE] for sentence in sentences]
