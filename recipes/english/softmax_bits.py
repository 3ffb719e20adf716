"""How few bits a softmax needs: the perplexity of one text with the same softmax stored in several ways.

    python -m recipes.english.softmax_bits MODEL --text english_heldout.txt [--softmax FILE] [--words 20000]

MODEL has a softmax in full precision, or FILE does in eight bits. The text is read once, each sentence from the
settled state; only the output layer differs. Prints a table: bytes of the weights, perplexity, and the difference to
the softmax as it was given.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path

import torch
from torch import Tensor

from elmo.lm.languagemodel import LanguageModel, language_model, softmax_head
from elmo.lm.perplexity import hidden_windows
from elmo.lm.reading import sentence_readings
from elmo.lm.textcorpus import corpus_of_sentences
from elmo.text.textfiles import sentences_of_files
from elmo.weights.formats import read_model
from elmo.weights.fourbits import dequantize4, quantize4
from elmo.weights.loaded import LoadedModel
from elmo.weights.quantized import dequantize, quantize
from elmo.weights.softmax import Softmax
from elmo.weights.softmaxfile import add_softmax

Stored = tuple[Tensor, int]  # the table as it is read again, and its bytes


def eight(table: Tensor) -> Stored:
    """A scale a row."""
    numbers, scale = quantize(table.numpy(), (len(table), 1))
    return torch.from_numpy(dequantize(numbers, scale)), numbers.size + 4 * scale.size


def four(table: Tensor, *, group: int) -> Stored:
    """A float16 scale a group."""
    packed, scale = quantize4(table.numpy(), group=group)
    return torch.from_numpy(dequantize4(packed, scale)), packed.size + 2 * scale.size


def mixed(table: Tensor, *, rows: int, group: int) -> Stored:
    """The first rows, which are the most frequent words, in eight bits and the others in four."""
    (first, some), (rest, more) = eight(table[:rows]), four(table[rows:], group=group)
    return torch.cat([first, rest]), some + more


WAYS: dict[str, Callable[[Tensor], Stored]] = {
    "as given": lambda table: (table, 4 * table.numel()),
    "8 bits": eight,
    "4 bits, groups of 32": lambda table: four(table, group=32),
    "4 bits, groups of 64": lambda table: four(table, group=64),
    "4 bits, groups of 128": lambda table: four(table, group=128),
    "8 bits for 5,000, 4 for the rest (32)": lambda table: mixed(table, rows=5_000, group=32),
    "8 bits for 10,000, 4 for the rest (32)": lambda table: mixed(table, rows=10_000, group=32),
    "8 bits for 20,000, 4 for the rest (32)": lambda table: mixed(table, rows=20_000, group=32),
}


def hidden_and_targets(model: LoadedModel, made: LanguageModel, sentences: list[list[str]]) -> Iterator[list[Tensor]]:
    """What the softmax reads, and what it should predict: [M, P] and [M], both directions together."""
    text = corpus_of_sentences(model, sentences)
    for reading in sentence_readings(text.symbols, text.sentences, directions=model.config.lstm.directions):
        targets, alive = text.table.target_ids(torch.from_numpy(reading.targets)), torch.from_numpy(reading.alive)
        for first, hidden in hidden_windows(made, text.table, reading, state="settled"):
            own = slice(first, first + hidden.shape[1])
            yield [hidden[:, alive[own]].flatten(0, 1), targets[:, own][:, alive[own]].flatten()]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--softmax", type=Path)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--tokenized", action="store_true")
    arguments = parser.parse_args()
    model = read_model(arguments.model)
    if arguments.softmax is not None:
        model = add_softmax(model, arguments.softmax)
    made = language_model(model)
    assert model.softmax is not None
    read = 0

    def is_wanted(sentence: list[str]) -> bool:
        nonlocal read
        read += len(sentence)
        return read <= arguments.words

    files = sentences_of_files([str(arguments.text)], model.tokenizer, tokenized=arguments.tokenized)
    sentences = [list(sentence) for sentence in takewhile(is_wanted, files)]
    hidden, targets = (torch.cat(column) for column in zip(*hidden_and_targets(model, made, sentences), strict=True))
    print(f"{len(targets):,} predictions over {len(model.softmax.weight):,} words")
    print(f"| {'softmax':40s} | MB    | perplexity | difference |\n|---|---|---|---|")
    given = math.nan
    for name, store in WAYS.items():
        table, size = store(model.softmax.weight.float())
        loss = float(softmax_head(Softmax(table, model.softmax.bias)).losses(hidden, targets).double().mean())
        given = loss if name == "as given" else given
        print(
            f"| {name:40s} | {size / 1e6:5.1f} | {math.exp(loss):10.3f} | {math.expm1(loss - given):+10.3%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
