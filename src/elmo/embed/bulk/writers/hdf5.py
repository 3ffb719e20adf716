"""HDF5 in the layouts of bilm-tf and AllenNLP, so that code written for their dumps reads ours.

Both: one dataset a line, named by its number from 0, float32 [L, T, D] for all layers or [T, D]. AllenNLP's has
`sentence_to_index` besides: a JSON object from each sentence to the number of its last line, as a string.
The tokens of a line are the attribute `tokens` of its dataset, and the first token of each sentence in it the attribute
`sentence_starts`, so that loops over datasets see vectors only. Where the input is several files, lines are numbered
through, and the attributes `file` and `line` say where each is from.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import h5py
import numpy as np

from elmo.embed.bulk.writers.part import EmbeddedPart
from elmo.embed.bulk.writers.row import Shape

Layout = Literal["bilm", "allennlp"]


def write_hdf5(parts: Iterable[EmbeddedPart], path: Path, shape: Shape, *, layout: Layout = "allennlp") -> None:
    """Write lines in input order; iterating over the file gives them in that order."""
    strings = h5py.string_dtype("utf-8")
    sentences: dict[str, str] = {}
    # "latest": attributes over 64 kB (the tokens of a long line) need it, and many links are faster.
    with h5py.File(path, "w", libver="latest", track_order=True) as file:
        for row in (row for part in parts for row in part.rows()):
            data = row.vectors.astype(shape.dtype, copy=False)
            dataset = file.create_dataset(str(row.number), data=data, track_order=False)
            dataset.attrs.create("tokens", np.array([_storable(t) for t in row.tokens], dtype=object), dtype=strings)
            dataset.attrs.create("sentence_starts", np.array(row.sentence_starts, dtype=np.int32))
            if row.file is not None:
                dataset.attrs["file"], dataset.attrs["line"] = _storable(row.file), row.line
            if layout == "allennlp":
                sentences[row.text.strip()] = str(row.number)  # stripped, as AllenNLP's keys are
        if layout == "allennlp":
            file.create_dataset("sentence_to_index", (1,), dtype=strings, data=json.dumps(sentences))


def _storable(text: str) -> str:
    """HDF5 strings end at a NUL and hold UTF-8, which has no lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{SYMBOL FOR NULL}")
