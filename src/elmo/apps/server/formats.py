"""Vectors of tokens as bytes: JSON, JSON lines, Arrow, npz, safetensors; each can be sent while it is being made.

T tokens, L layers, D size of a vector.
"""

import importlib.util
import io
import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from elmo.embed.inputs import GivenText, sentence_starts
from elmo.text.tokens import Tokens

Floats = npt.NDArray[np.floating[Any]]


class AnswerEntry(NamedTuple):
    """One text of the answer."""

    number: int  # from 0
    text: GivenText
    vectors: Floats  # [T, D], or [L, T, D] for all layers

    @property
    def tokens(self) -> list[str]:
        """Its tokens."""
        return list(self.text.tokens)

    @property
    def offsets(self) -> list[tuple[int, int]] | None:
        """Where they stand in the text, in code points; None for tokens that were given."""
        return self.text.tokens.offsets if isinstance(self.text.tokens, Tokens) else None

    @property
    def sentence_starts(self) -> list[int]:
        """The number of the first token of each sentence."""
        return sentence_starts(self.text.pieces)


@dataclass(frozen=True, kw_only=True)
class Head:
    """What is known of an answer before the model has run."""

    model: str
    dim: int
    layers: int | None  # how many each text has; None for one chosen or mixed layer
    dtype: str  # "float32" or "float16"
    texts: Sequence[GivenText]

    def shape(self, text: GivenText) -> tuple[int, ...]:
        """Of a text's vectors."""
        own = (sum(map(len, text.pieces)), self.dim)
        return own if self.layers is None else (self.layers, *own)


class AnswerFormat(ABC):
    """Writes one answer: `begin`, any number of `part`s with entries in order, `end`."""

    media_type: str
    at_once = False  # whether each part is sent as it is made, also of a short answer

    def __init__(self, head: Head) -> None:
        self.head = head

    def begin(self) -> bytes:
        """What stands before the first entry."""
        return b""

    @abstractmethod
    def part(self, entries: Sequence[AnswerEntry]) -> bytes:
        """Some entries."""

    def end(self) -> bytes:
        """What stands behind the last one."""
        return b""


class Json(AnswerFormat):
    """One object: model, dim, and the results in a list."""

    media_type = "application/json"
    _first = True

    def begin(self) -> bytes:
        """Up to the list."""
        return (json.dumps({"model": self.head.model, "dim": self.head.dim})[:-1] + ', "results": [').encode()

    def part(self, entries: Sequence[AnswerEntry]) -> bytes:
        """Objects with commas between them."""
        comma = "" if self._first else ", "
        self._first = self._first and not entries
        return (comma + ", ".join(_object(entry) for entry in entries)).encode() if entries else b""

    def end(self) -> bytes:
        """Close both."""
        return b"]}"


class Ndjson(AnswerFormat):
    """One object a line."""

    media_type = "application/x-ndjson"
    at_once = True

    def part(self, entries: Sequence[AnswerEntry]) -> bytes:
        """Lines."""
        return "".join(_object(entry) + "\n" for entry in entries).encode()


class Npz(AnswerFormat):
    """Arrays `0`, `1`, ... with `0.tokens`, `0.offsets` and `0.sentence_starts`, as `elmo embed` writes."""

    media_type = "application/x-npz"

    def __init__(self, head: Head) -> None:
        super().__init__(head)
        self._sink = _Sink()
        self._archive = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_STORED, allowZip64=True)

    def part(self, entries: Sequence[AnswerEntry]) -> bytes:
        """Members of the archive."""
        for entry in entries:
            self._add(f"{entry.number}", entry.vectors)
            # numpy drops NULs at the end of a string.
            tokens = [token.replace("\0", "\N{SYMBOL FOR NULL}") for token in entry.tokens]
            self._add(f"{entry.number}.tokens", np.array(tokens, dtype=np.str_))
            if entry.offsets is not None:
                self._add(f"{entry.number}.offsets", np.array(entry.offsets, dtype=np.int64).reshape(-1, 2))
            self._add(f"{entry.number}.sentence_starts", np.array(entry.sentence_starts, dtype=np.int32))
        return self._sink.take()

    def end(self) -> bytes:
        """The archive's directory."""
        self._archive.close()
        return self._sink.take()

    def _add(self, name: str, array: npt.NDArray[Any]) -> None:
        with self._archive.open(f"{name}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


class Safetensors(AnswerFormat):
    """Tensors `0`, `1`, ...; model, tokens, offsets and sentence starts as JSON in the metadata."""

    media_type = "application/vnd.safetensors"

    def begin(self) -> bytes:
        """The header: all shapes are known by now."""
        name, width = ("F32", 4) if self.head.dtype == "float32" else ("F16", 2)
        entries = [AnswerEntry(n, text, np.empty(0)) for n, text in enumerate(self.head.texts)]
        facts = {
            "model": self.head.model,
            "tokens": json.dumps([entry.tokens for entry in entries]),
            "offsets": json.dumps([entry.offsets for entry in entries]),
            "sentence_starts": json.dumps([entry.sentence_starts for entry in entries]),
        }
        tensors: dict[str, Any] = {"__metadata__": facts}
        end = 0
        for entry in entries:
            shape = self.head.shape(entry.text)
            begin, end = end, end + width * int(np.prod(shape))
            tensors[f"{entry.number}"] = {"dtype": name, "shape": shape, "data_offsets": [begin, end]}
        header = json.dumps(tensors).encode()
        header += b" " * (-len(header) % 8)
        return len(header).to_bytes(8, "little") + header

    def part(self, entries: Sequence[AnswerEntry]) -> bytes:
        """Their numbers, little-endian."""
        return b"".join(np.ascontiguousarray(_little(entry.vectors)).tobytes() for entry in entries)


class Arrow(AnswerFormat):
    """Arrow's stream: a record batch a batch of the model, a row a text; columns as `elmo embed` has in Parquet."""

    media_type = "application/vnd.apache.arrow.stream"
    at_once = True

    def __init__(self, head: Head) -> None:
        super().__init__(head)
        import pyarrow

        self._arrow = pyarrow
        number = pyarrow.float16() if head.dtype == "float16" else pyarrow.float32()
        self._vector = pyarrow.list_(number, head.dim)
        self._names = ["vectors"] if head.layers is None else [f"layer_{n}" for n in range(head.layers)]
        text, place = pyarrow.list_(pyarrow.string()), pyarrow.list_(pyarrow.int32())
        fields = [("input", pyarrow.int64()), ("tokens", text), ("starts", place), ("ends", place)]
        fields += [("sentence_starts", place), *((name, pyarrow.list_(self._vector)) for name in self._names)]
        self._schema = pyarrow.schema(fields, metadata={"model": head.model})
        self._sink = _Sink()
        self._writer = pyarrow.ipc.new_stream(pyarrow.PythonFile(self._sink, "w"), self._schema)

    def part(self, entries: Sequence[AnswerEntry]) -> bytes:
        """A record batch."""
        if entries:
            self._writer.write_batch(self._batch(entries))
        return self._sink.take()

    def end(self) -> bytes:
        """The mark at the end of the stream."""
        self._writer.close()
        return self._sink.take()

    def _batch(self, entries: Sequence[AnswerEntry]) -> Any:
        arrow = self._arrow
        places = [entry.offsets for entry in entries]
        columns = [
            [entry.number for entry in entries],
            [entry.tokens for entry in entries],
            [None if own is None else [start for start, _ in own] for own in places],
            [None if own is None else [end for _, end in own] for own in places],
            [entry.sentence_starts for entry in entries],
        ]
        arrays = [arrow.array(column, field.type) for column, field in zip(columns, self._schema, strict=False)]
        ends = np.cumsum([0, *(entry.vectors.shape[-2] for entry in entries)]).astype(np.int32)
        for layer in range(len(self._names)):
            own = [entry.vectors if self.head.layers is None else entry.vectors[layer] for entry in entries]
            flat = arrow.array(np.concatenate([vectors.reshape(-1) for vectors in own]))
            rows = arrow.FixedSizeListArray.from_arrays(flat, type=self._vector)
            arrays.append(arrow.ListArray.from_arrays(arrow.array(ends), rows))
        return arrow.record_batch(arrays, schema=self._schema)


class _Sink(io.RawIOBase):
    """A file that is emptied by `take`; it cannot seek, so that whoever writes to it needs no second look."""

    def __init__(self) -> None:
        super().__init__()
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._written += data
        return memoryview(data).nbytes

    def take(self) -> bytes:
        """What was written since the last time."""
        found, self._written = bytes(self._written), bytearray()
        return found


def known_formats() -> dict[str, type[AnswerFormat]]:
    """All that can be made here by media type; the first is what is sent where nothing is asked for."""
    known: list[type[AnswerFormat]] = [Json, Ndjson, Npz, Safetensors]
    if importlib.util.find_spec("pyarrow") is not None:  # the extra `parquet`
        known.append(Arrow)
    return {format_.media_type: format_ for format_ in known}


def choose_format(accept: str, known: Iterable[str]) -> str | None:
    """The media type of `known` that an Accept header likes best; None where it likes none."""
    names = list(known)
    best, best_quality = None, 0.0
    for one in accept.split(",") if accept.strip() else ["*/*"]:
        wanted, *parameters = (part.strip().lower() for part in one.split(";"))
        quality = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    quality = float(parameter[2:])
                except ValueError:
                    quality = 0.0
        kind, _, _ = wanted.partition("/")
        for name in names:
            if wanted in (name, "*/*") or (wanted == f"{kind}/*" and name.startswith(f"{kind}/")):
                if quality > best_quality:
                    best, best_quality = name, quality
                break
    return best


def floats(array: Floats) -> str:
    """An array of any dimensions as JSON, in the nine digits that tell float32 numbers apart."""
    if array.ndim > 1:
        return "[" + ", ".join(map(floats, array)) + "]"
    return "[" + ", ".join(["%.9g"] * len(array)) % tuple(array.tolist()) + "]"


def _object(entry: AnswerEntry) -> str:
    known = {"tokens": entry.tokens, "offsets": entry.offsets, "sentence_starts": entry.sentence_starts}
    return json.dumps(known)[:-1] + f', "vectors": {floats(entry.vectors)}}}'


def _little(array: Floats) -> Floats:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
