"""Pairs of texts from files: SNLI's lines of JSON, .csv, lines of `label<TAB>premise<TAB>hypothesis`."""

from collections.abc import Iterator, Sequence

from elmo.errors import InputError
from elmo.tasks.examples import Text
from elmo.tasks.fields import Fields, Record, has_fields, read_fields_of
from elmo.text.lines import read_lines
from elmo.text.tokenizer import Tokenizer

# SNLI's and MultiNLI's own names, and those of most other files of pairs.
KNOWN_FIELDS = [Fields(("sentence1", "sentence2"), "gold_label"), Fields(("premise", "hypothesis"), "label")]
CURE = "--set task.premise_field=NAME, task.hypothesis_field=NAME and task.label_field=NAME say what they are called"

# How the Penn Treebank writes what a text has as a single character. SNLI comes both ways: as plain text, and with its
# dev and test in treebank tokens. A biLM that read plain text has never seen them.
TREEBANK_SPELLINGS = {
    "``": '"',
    "''": '"',
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}


def read_pairs(path: str, known: Sequence[Fields], *, answers: bool) -> Iterator[Record]:
    """The records of a file: premise and hypothesis, with a label where `answers` are wanted."""
    if has_fields(path):
        yield from read_fields_of(path, known, answers=answers, cure=CURE)
        return
    for number, line in read_lines(path):
        if not line.strip():
            continue
        parts = line.split("\t")
        if len(parts) == 3:
            yield Record(number, parts[0], (parts[1], parts[2]))
        elif len(parts) == 2 and not answers:
            yield Record(number, None, (parts[0], parts[1]))
        else:
            wanted = "`label<TAB>premise<TAB>hypothesis`" + ("" if answers else ", or the two texts alone,")
            raise InputError(f"{path}: line {number} has {len(parts) - 1} tab(s); {wanted} is wanted")


def read_side(text: str, tokenizer: Tokenizer) -> Text:
    """The tokens of a text, sentence by sentence, whatever way quotation marks and brackets are written."""
    return Text.of_sentences(
        [TREEBANK_SPELLINGS.get(word, word) for word in words] for words in tokenizer.sentence_words(text)
    )
