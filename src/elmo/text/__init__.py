"""Raw text to sentences, tokens, character ids and vocabularies. Knows numpy, not torch."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.text.chars import boundary_rows, spell
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
    "boundary_rows",
    "count_words_of_files",
    "expand_paths",
    "placed_sentences",
    "read_lines",
    "read_vocabulary",
    "sentences_of_files",
    "spell",
    "split_sentences",
]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "Tokenizer": "elmo.text.tokenizer",
        "Tokens": "elmo.text.tokens",
        "Vocabulary": "elmo.text.vocabulary",
        "VocabularyFinding": "elmo.text.vocabulary_check",
        "boundary_rows": "elmo.text.chars",
        "count_words_of_files": "elmo.text.textfiles",
        "expand_paths": "elmo.text.lines",
        "placed_sentences": "elmo.text.textfiles",
        "read_lines": "elmo.text.lines",
        "read_vocabulary": "elmo.text.vocabulary",
        "sentences_of_files": "elmo.text.textfiles",
        "spell": "elmo.text.chars",
        "split_sentences": "elmo.text.sentences",
    },
)
