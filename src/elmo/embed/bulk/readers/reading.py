"""`read_vectors`: a file that `elmo embed` wrote, in any of its formats, as a sequence of lines."""

import os
from pathlib import Path

from elmo.embed.bulk.readers.vectorfile import VectorFile
from elmo.embed.bulk.writers.formats import Format, format_of


def read_vectors(path: str | os.PathLike[str], *, format: Format | None = None) -> VectorFile:  # noqa: A002
    """Open a file of vectors; `format` says what it is where its name does not.

    `len(lines)`, `lines[7].vectors`, `lines[7].tokens`, `lines[10:20]` and `lines.token_vectors(1000, 2000)` read what
    is asked for and nothing else. Nothing is copied out of .safetensors and .arrow files; .parquet files are decoded a
    row group at a time.
    """
    file = Path(path)
    match format_of(str(file), format):
        case "safetensors":
            from elmo.embed.bulk.readers.safetensors import MappedFile

            return MappedFile(file)
        case "arrow":
            from elmo.embed.bulk.readers.arrow import ArrowFile

            return ArrowFile(file)
        case "parquet" | "parquet-flat":  # the latter is refused, with a word on what reads it
            from elmo.embed.bulk.readers.arrow import ParquetFile

            return ParquetFile(file)
        case "npz":
            from elmo.embed.bulk.readers.npz import NpzFile

            return NpzFile(file)
        case "jsonl":
            from elmo.embed.bulk.readers.jsonl import JsonLinesFile

            return JsonLinesFile(file)
        case "hdf5-allennlp" | "hdf5-bilm":
            from elmo.embed.bulk.readers.hdf5 import Hdf5File

            return Hdf5File(file)
