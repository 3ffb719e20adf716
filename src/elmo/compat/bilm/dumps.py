"""bilm-tf's dumps: the token embeddings of a vocabulary, and all layers of a text, as HDF5 files in its layout."""

import os
from pathlib import Path

import numpy as np

from elmo.compat.bilm.batchers import Batcher
from elmo.compat.bilm.model import BidirectionalLanguageModel, read_bilm
from elmo.compat.bilm.vocabulary import UnicodeCharsVocabulary
from elmo.compat.output import hdf5_output
from elmo.compat.reading import encode_rows
from elmo.compat.rows import character_config
from elmo.embed.runners import choose_runner, computing
from elmo.ops.arrays import host
from elmo.ops.where import name_of_device
from elmo.text.chars import FIRST_BYTE
from elmo.text.lines import read_lines

Name = str | os.PathLike[str]


def dump_token_embeddings(vocab_file: Name, options_file: Name, weight_file: Name, outfile: Name) -> None:
    """Write `embedding` [V, D]: the vector of each word of a vocabulary, for `use_character_inputs=False`.

    `<UNK>` is spelled out like any word, as bilm-tf does it.
    """
    arrays = read_bilm(Path(options_file), Path(weight_file))
    vocabulary = UnicodeCharsVocabulary(vocab_file, character_config(arrays.config).characters)
    rows = vocabulary.word_char_ids.astype(np.int64) + FIRST_BYTE  # [V, C]
    runner = choose_runner(arrays, device=name_of_device(None), dtype="float32")
    with computing(runner, threads=None):
        vectors = host(encode_rows(runner, rows))
    with hdf5_output(outfile) as file:
        file.create_dataset("embedding", data=vectors, dtype="float32")


def dump_bilm_embeddings(
    vocab_file: Name, dataset_file: Name, options_file: Name, weight_file: Name, outfile: Name
) -> None:
    """Write one dataset [L + 1, T, 2D] for each line of tokens with white space between, named by its number from 0.

    One line after the other, each from the state that the last one left, blank ones too: no batch can give these
    numbers. `elmo embed` is the fast way to vectors that do not depend on order.
    """
    model = BidirectionalLanguageModel(options_file, weight_file)
    batcher = Batcher(vocab_file, character_config(model.config).characters)
    with hdf5_output(outfile) as file:
        for number, line in read_lines(dataset_file):
            layers = model(batcher.batch_sentences([line.split()]))["lm_embeddings"][0]
            file.create_dataset(str(number - 1), data=layers, dtype="float32")
