"""`ElmoTokenizer`: text to rows of character ids, with the arguments that transformers' tokenizers have.

N texts, T tokens, C ids in a row (50). `input_ids` is [N, T, C], `attention_mask` [N, T], and `token_type_ids` [N, T]
the number of the sentence that a token stands in. Padding is zeros behind a text. No token is added.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from transformers import BatchEncoding, PreTrainedTokenizer
from transformers.utils import PaddingStrategy

from elmo.integrations.transformers.rows import row_bytes
from elmo.text.chars import CHARACTER_COUNT, CHARACTERS_IN_ROW, spell
from elmo.text.tokenizer import Tokenizer
from elmo.text.tokens import join_sentences

PADDED = ("input_ids", "attention_mask", "token_type_ids", "special_tokens_mask", "offset_mapping")


class ElmoEncoding(BatchEncoding):
    """What the tokenizer gives. Tokens are words, so that `word_ids` counts them; None where there is padding."""

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """The number of each token of a text, which is that of its word."""
        return [n if alive else None for n, alive in enumerate(self._of("attention_mask", batch_index))]

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """0 for each token of a text: there are no pairs."""
        return [0 if alive else None for alive in self._of("attention_mask", batch_index)]

    def tokens(self, batch_index: int = 0) -> list[str]:
        """The words of a text as far as their rows hold them; empty ones where there is padding."""
        return [row_bytes(row).decode("utf-8", "replace") for row in self._of("input_ids", batch_index)]

    def _of(self, key: str, n: int) -> npt.NDArray[Any]:
        values, single = self[key], np.ndim(self["attention_mask"][0]) == 0 if len(self["attention_mask"]) else True
        return np.asarray(values if single else values[n])


class _Text(NamedTuple):
    """The tokens of one text: words, the number of each one's sentence, and its place."""

    words: list[str]
    sentences: list[int]
    offsets: list[tuple[int, int]]

    def cut(self, most: int) -> "_Text":
        """So many of its tokens."""
        return _Text(self.words[:most], self.sentences[:most], self.offsets[:most])


class ElmoTokenizer(PreTrainedTokenizer):
    """The model's own rule for raw text, or tokens as they are (`is_split_into_words=True`).

    `rule` and `language`: as in a model's config.json. `split_sentences`: a raw text may have several sentences, each
    of which the model reads by itself.
    """

    model_input_names = ["input_ids", "token_type_ids", "attention_mask"]  # noqa: RUF012 - transformers' own way
    padding_side = "right"

    def __init__(
        self,
        *,
        rule: str = "treebank",
        language: str | None = "en",
        characters: int = CHARACTERS_IN_ROW,
        split_sentences: bool = True,
        **kwargs: Any,
    ) -> None:
        self.words_rule = Tokenizer.from_dict({"rule": rule, "language": language})
        self.rule, self.language = rule, language
        self.characters, self.split_sentences = characters, split_sentences
        own = {"rule": rule, "language": language, "characters": characters, "split_sentences": split_sentences}
        # In one dict: a tokenizer that is read back is given its `pad_token` again.
        super().__init__(**{"pad_token": "<pad>", **kwargs, **own})

    @property
    def vocab_size(self) -> int:
        """How many ids there are: of characters, since any word has a row."""
        return CHARACTER_COUNT

    def get_vocab(self) -> dict[str, int]:
        """The padding alone; words are spelled, not looked up."""
        return {"<pad>": 0}

    def _convert_token_to_id(self, token: str) -> int:
        return self.get_vocab().get(token, 0)

    def save_vocabulary(self, *_: Any, **__: Any) -> tuple[str, ...]:
        """There is none to save."""
        return ()

    def tokenize(self, text: str, **_: Any) -> list[str]:
        """The words of a text, as the model reads them."""
        return self._read(text, 0, split=False).words

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The row of a word, or the rows of words."""
        if tokens == self.pad_token or tokens is None:
            return 0
        rows = spell([tokens] if isinstance(tokens, str) else tokens, characters=self.characters).tolist()
        return rows[0] if isinstance(tokens, str) else rows

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The words of rows, as far as they hold them; padding is left out if asked for."""
        if np.ndim(ids) == 0:
            return self.pad_token
        rows = np.asarray(ids)
        words = [
            row_bytes(row).decode("utf-8", "replace") if row.any() else self.pad_token for row in np.atleast_2d(rows)
        ]
        if rows.ndim == 1 and rows.size:
            return words[0]
        return [word for word in words if not (skip_special_tokens and word == self.pad_token)] if rows.size else []

    def decode(self, token_ids: Any, skip_special_tokens: bool = False, **_: Any) -> Any:
        """The words of a text's rows [T, C] with spaces between, or those of each text's [N, T, C]."""
        if np.ndim(token_ids) > 2 or (len(token_ids) and np.ndim(token_ids[0]) > 1):
            return [self.decode(rows, skip_special_tokens) for rows in token_ids]
        return " ".join(self.convert_ids_to_tokens(token_ids, skip_special_tokens) if len(token_ids) else [])

    def _encode_plus(
        self,
        text: Any,
        text_pair: Any = None,
        *,
        padding_strategy: PaddingStrategy = PaddingStrategy.DO_NOT_PAD,
        truncation_strategy: Any = None,
        max_length: int | None = None,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: str | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        **_: Any,
    ) -> ElmoEncoding:
        if text_pair is not None:
            raise ValueError(
                "ElmoTokenizer reads single texts, not pairs (text_pair); give both texts apart and compare vectors"
            )
        if return_overflowing_tokens:
            raise ValueError("ElmoTokenizer has no overflowing tokens: a text may be as long as you like")
        single = isinstance(text, str) or (is_split_into_words and not _is_batch_of_tokens(text))
        texts = [self._read(t, n, split=is_split_into_words) for n, t in enumerate([text] if single else _listed(text))]
        if max_length is not None and getattr(truncation_strategy, "value", "do_not_truncate") != "do_not_truncate":
            texts = [t.cut(max_length) for t in texts]
        data: dict[str, Any] = {"input_ids": self._rows(texts)}
        if return_token_type_ids is not False:
            data["token_type_ids"] = [t.sentences for t in texts]
        if return_attention_mask is not False:
            data["attention_mask"] = [[1] * len(t.words) for t in texts]
        if return_special_tokens_mask:
            data["special_tokens_mask"] = [[0] * len(t.words) for t in texts]
        if return_offsets_mapping:
            data["offset_mapping"] = [t.offsets for t in texts]
        if return_length:
            data["length"] = [len(t.words) for t in texts]
        padded = self.pad(
            data,
            padding=padding_strategy,
            max_length=max_length,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
            return_attention_mask=return_attention_mask,
            return_tensors=return_tensors,
        )
        return (
            ElmoEncoding({key: value[0] for key, value in padded.items()}) if single and not return_tensors else padded
        )

    def pad(
        self,
        encoded_inputs: Any,
        padding: bool | str | PaddingStrategy = True,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_attention_mask: bool | None = None,
        return_tensors: str | None = None,
        verbose: bool = True,  # noqa: ARG002 - transformers' signature
    ) -> ElmoEncoding:
        """Encodings to equal length, zeros behind each; what is not the tokenizer's (labels) stays as it is."""
        if (padding_side or self.padding_side) != "right":
            raise ValueError(
                "padding_side is 'left'; the biLM reads sentences from their first token, so it must be 'right'"
            )
        data = _columns(encoded_inputs)
        if "input_ids" not in data:
            raise ValueError(f"encodings have {list(data)}, but input_ids are wanted; make them with this tokenizer")
        if any(np.ndim(entry) == 1 and len(entry) for entry in data["input_ids"]):  # one text, its rows
            data = {key: [value] for key, value in data.items()}
        lengths = [len(rows) for rows in data["input_ids"]]
        if "attention_mask" not in data and return_attention_mask is not False:
            data["attention_mask"] = [[1] * length for length in lengths]
        wanted = _wanted(padding, lengths, max_length, pad_to_multiple_of)
        if wanted is None and (return_tensors is None or len(set(lengths)) <= 1):
            wanted = lengths[0] if return_tensors and lengths else None
        elif wanted is None:
            raise ValueError("texts have different numbers of tokens; a tensor of them needs padding=True")
        if wanted is None:
            return ElmoEncoding({key: [_as_list(value) for value in values] for key, values in data.items()})
        whole: dict[str, Any] = {}
        for key, values in data.items():
            whole[key] = self._filled(key, values, wanted) if key in PADDED else values
            if return_tensors is None:
                whole[key] = _as_list(whole[key])
            elif return_tensors == "pt":
                whole[key] = torch.as_tensor(np.asarray(whole[key]))
            elif return_tensors == "np":
                whole[key] = np.asarray(whole[key])
            else:
                raise ValueError(f"return_tensors is {return_tensors!r}; it must be 'pt', 'np' or None")
        return ElmoEncoding(whole)

    def _filled(self, key: str, values: Sequence[Any], T: int) -> npt.NDArray[np.int64]:
        beyond = {"input_ids": (self.characters,), "offset_mapping": (2,)}.get(key, ())
        filled = np.full((len(values), T, *beyond), int(key == "special_tokens_mask"), dtype=np.int64)
        for n, value in enumerate(values):
            if len(value):
                filled[n, : len(value)] = np.asarray(value)
        return filled

    def _read(self, text: Any, n: int, *, split: bool) -> _Text:
        if split:
            if isinstance(text, str) or not all(isinstance(word, str) for word in text):
                raise ValueError(f"text {n} is {text!r:.60}; with is_split_into_words=True it must be a list of words")
            return _Text(list(text), [0] * len(text), [(0, len(word)) for word in text])
        if not isinstance(text, str):
            kind = type(text).__name__
            raise ValueError(
                f"text {n} is a {kind} ({text!r:.60}); a string is wanted. A list of words needs "
                "is_split_into_words=True, and pairs of texts are not read"
            )
        rule = self.words_rule
        sentences = rule.sentences(text) if self.split_sentences else [rule.tokenize(text)]
        tokens = join_sentences(sentences)
        ends = [*tokens.sentence_starts[1:], len(tokens)]
        numbers = [n for n, (s, e) in enumerate(zip(tokens.sentence_starts, ends, strict=False)) for _ in range(e - s)]
        return _Text(tokens.words, numbers, tokens.offsets)

    def _rows(self, texts: Sequence[_Text]) -> list[npt.NDArray[np.int16]]:
        """The rows [T, C] of each text; each distinct word is spelled once."""
        distinct = {word: k for k, word in enumerate(dict.fromkeys(word for text in texts for word in text.words))}
        rows = spell(list(distinct), characters=self.characters)
        return [rows[[distinct[word] for word in text.words]] if text.words else rows[:0] for text in texts]


def _listed(text: Any) -> list[Any]:
    if not isinstance(text, (list, tuple)):
        raise ValueError(f"text is a {type(text).__name__}; a string or a list of strings is wanted")
    return list(text)


def _is_batch_of_tokens(text: Any) -> bool:
    return bool(len(text)) and not isinstance(text[0], str)


def _columns(encodings: Any) -> dict[str, Any]:
    if isinstance(encodings, Mapping) or hasattr(encodings, "data"):
        return dict(encodings.items())
    return {key: [encoding[key] for encoding in encodings] for key in encodings[0]}


def _wanted(
    padding: bool | str | PaddingStrategy, lengths: list[int], max_length: int | None, multiple: int | None
) -> int | None:
    """The length that all texts get, or None."""
    kind = getattr(padding, "value", padding)
    if kind in (False, "do_not_pad"):
        return None
    wanted = max(lengths, default=0)
    if kind == "max_length" and max_length is not None:
        wanted = max(wanted, max_length)
    return wanted + -wanted % multiple if multiple else wanted


def _as_list(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
