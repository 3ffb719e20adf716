"""Raw text to sentences, tokens, character ids and vocabularies. Knows numpy, not torch."""

from typing import TYPE_CHECKING, Any

from elmo.errors import imported

if TYPE_CHECKING:
    from elmo.text.chars import spell
    from elmo.text.lines import expand_paths, read_lines
    from elmo.text.sentences import split_sentences
    from elmo.text.textfiles import count_words_of_files, placed_sentences, sentences_of_files
    from elmo.text.tokenizer import Tokenizer
    from elmo.text.tokens import Tokens
    from elmo.text.vocabulary import Vocabulary, read_vocabulary
    from elmo.text.vocabulary_check import VocabularyFinding

__all__ = [
    "Tokenizer",
    "Tokens",
    "Vocabulary",
    "VocabularyFinding",
    "count_words_of_files",
    "expand_paths",
    "placed_sentences",
    "read_lines",
    "read_vocabulary",
    "sentences_of_files",
    "spell",
    "split_sentences",
]

# Loaded on first use, so that `elmo --help` does not wait for the tokenizers.
_HOMES = {
    "Tokenizer": "elmo.text.tokenizer",
    "Tokens": "elmo.text.tokens",
    "Vocabulary": "elmo.text.vocabulary",
    "VocabularyFinding": "elmo.text.vocabulary_check",
    "count_words_of_files": "elmo.text.textfiles",
    "expand_paths": "elmo.text.lines",
    "placed_sentences": "elmo.text.textfiles",
    "read_lines": "elmo.text.lines",
    "read_vocabulary": "elmo.text.vocabulary",
    "sentences_of_files": "elmo.text.textfiles",
    "spell": "elmo.text.chars",
    "split_sentences": "elmo.text.sentences",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return imported(_HOMES[name], name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
