"""The output formats, each named here and nowhere else: its name, the suffixes that mean it, what writes it.

Without torch or the formats' libraries, so that the command line can offer the names at once.
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from elmo.errors import ConfigError

if TYPE_CHECKING:
    from elmo.embed.bulk.writers.appender import Appender
    from elmo.embed.bulk.writers.part import EmbeddedPart
    from elmo.embed.bulk.writers.row import Shape

Format = Literal["hdf5-allennlp", "hdf5-bilm", "parquet", "parquet-flat", "arrow", "safetensors", "npz", "jsonl"]
STANDARD_STREAM = "-"  # as a name: standard input or output, which has JSON lines


@dataclass(frozen=True, kw_only=True)
class OutputFormat:
    """One format. `require` fails where what it needs is not installed; `by_token`: a row is a token, not a line.

    A file is written in one go by `write`, or grows at its end by what `append` makes.
    """

    write: "Callable[[Iterable[EmbeddedPart], Path, Shape], None] | None" = None
    append: "Callable[[BinaryIO, Shape], Appender] | None" = None
    suffixes: tuple[str, ...] = ()
    require: Callable[[], object] = lambda: None
    by_token: bool = False


def _allennlp(parts: "Iterable[EmbeddedPart]", path: Path, shape: "Shape") -> None:
    from elmo.embed.bulk.writers.hdf5 import write_hdf5

    write_hdf5(parts, path, shape, layout="allennlp")


def _bilm(parts: "Iterable[EmbeddedPart]", path: Path, shape: "Shape") -> None:
    from elmo.embed.bulk.writers.hdf5 import write_hdf5

    write_hdf5(parts, path, shape, layout="bilm")


def _parquet(file: BinaryIO, shape: "Shape") -> "Appender":
    from elmo.embed.bulk.writers.parquet import ParquetAppender

    return ParquetAppender(file, shape)


def _arrow(file: BinaryIO, shape: "Shape") -> "Appender":
    from elmo.embed.bulk.writers.arrow import ArrowAppender

    return ArrowAppender(file, shape)


def _safetensors(file: BinaryIO, shape: "Shape") -> "Appender":
    from elmo.embed.bulk.writers.safetensors import SafetensorsAppender

    return SafetensorsAppender(file, shape)


def _flat(file: BinaryIO, shape: "Shape") -> "Appender":
    from elmo.embed.bulk.writers.flat import FlatAppender

    return FlatAppender(file, shape)


def _pyarrow() -> None:
    from elmo.embed.bulk.writers.columns import import_pyarrow

    import_pyarrow()


def _npz(parts: "Iterable[EmbeddedPart]", path: Path, shape: "Shape") -> None:
    from elmo.embed.bulk.writers.npz import write_npz

    write_npz(parts, path, shape)


def _jsonl(parts: "Iterable[EmbeddedPart]", path: Path, shape: "Shape") -> None:
    from elmo.embed.bulk.writers.jsonl import write_jsonl

    write_jsonl(parts, path, shape)


FORMATS: dict[Format, OutputFormat] = {
    "hdf5-allennlp": OutputFormat(write=_allennlp, suffixes=(".hdf5", ".h5")),
    "hdf5-bilm": OutputFormat(write=_bilm),
    "parquet": OutputFormat(append=_parquet, suffixes=(".parquet",), require=_pyarrow),
    "arrow": OutputFormat(append=_arrow, suffixes=(".arrow",), require=_pyarrow),
    "safetensors": OutputFormat(append=_safetensors, suffixes=(".safetensors",)),
    "parquet-flat": OutputFormat(append=_flat, require=_pyarrow, by_token=True),
    "npz": OutputFormat(write=_npz, suffixes=(".npz",)),
    "jsonl": OutputFormat(write=_jsonl, suffixes=(".jsonl",)),
}
SUFFIXES: dict[str, Format] = {suffix: name for name, known in FORMATS.items() for suffix in known.suffixes}


def write_whole(name: Format, parts: "Iterable[EmbeddedPart]", path: Path, shape: "Shape") -> None:
    """A file of all parts, from its beginning to its end."""
    known = FORMATS[name]
    if known.write is not None:
        known.write(parts, path, shape)
        return
    assert known.append is not None
    with open(path, "wb") as file, closing(known.append(file, shape)) as appender:
        for part in parts:
            appender.write(part)
        appender.finish()


def format_of(output: str, chosen: Format | None = None) -> Format:
    """The output format: the chosen one, or what the name says. Fails where what it needs is not installed."""
    name = chosen if chosen is not None else _format_by_name(output)
    FORMATS[name].require()
    return name


def _format_by_name(output: str) -> Format:
    if output == STANDARD_STREAM:
        return "jsonl"
    suffix = Path(output).suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(
            f"{output}: cannot tell the format from {suffix!r}; use {', '.join(SUFFIXES)} or name a format"
        )
    return SUFFIXES[suffix]
