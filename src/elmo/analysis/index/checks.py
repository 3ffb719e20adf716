"""Whether what lies in a folder is an index: its manifest, and tables that fit it and each other."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.analysis.index.layout import (
    FORMAT,
    MANIFEST,
    MEAN,
    STORED,
    TABLES,
    TOKENS,
    IndexManifest,
    LayerName,
    distance_file,
    mean_file,
    scale_file,
    table_file,
    vector_file,
)
from elmo.analysis.index.vectors import StoredLayer
from elmo.disk.guarded.plainfiles import exists, read_json, refusing, shortened
from elmo.errors import InputError
from elmo.model.fields import read_fields

MOST_MANIFEST_BYTES = 256 << 20  # it names every file of the text
MOST_LAYERS = 1000


def read_index_manifest(folder: Path) -> IndexManifest:
    """What `index.json` says, if the folder holds an index that this version can read."""
    path = folder / MANIFEST
    if folder.is_file():
        raise InputError(f"{folder}: is a file and no index; make one with `elmo index build {folder} -o DIRECTORY`")
    if not exists(path):
        raise InputError(f"{folder}: no {MANIFEST} there, so it is no index; make one with `elmo index build`")
    values = read_json(path, most_bytes=MOST_MANIFEST_BYTES, refusal=InputError)
    if values.get("format") != FORMAT:
        found = shortened(values.get("format"))
        raise InputError(f"{path}: format is {found}, but this version reads {FORMAT}; build the index again")
    with refusing(path, InputError):
        manifest = read_fields(IndexManifest, values, where=MANIFEST)
        _check(manifest)
    return manifest


def _check(manifest: IndexManifest) -> None:
    sizes = (manifest.rows, manifest.words, manifest.sentences, manifest.tokens)
    if not all(0 <= size < 1 << 48 for size in sizes) or not 0 < manifest.dim < 1 << 24:
        raise InputError("has a size that no index has; build the index again")
    if not 0 < manifest.model_layers <= MOST_LAYERS:
        raise InputError(f"model_layers is {manifest.model_layers}; a model has 1 to {MOST_LAYERS}")
    known = [*map(str, range(manifest.model_layers)), MEAN]
    if not manifest.layers or manifest.layers != [name for name in known if name in manifest.layers]:
        raise InputError(f"layers are {shortened(manifest.layers)}, but some of {known[0]} to {known[-2]} and mean")
    if set(manifest.hashes) != set(index_files(manifest)):
        raise InputError("does not record a hash of each file; build the index again")


def index_files(manifest: IndexManifest) -> list[str]:
    """The names of all files beside the manifest."""
    names = list(map(table_file, TABLES))
    for layer in manifest.layers:
        names += [vector_file(layer), mean_file(layer), distance_file(layer)]
        if manifest.store == "int8":
            names.append(scale_file(layer))
    return names


def check_tables(
    folder: Path,
    manifest: IndexManifest,
    tables: Mapping[str, npt.NDArray[Any]],
    layers: Mapping[LayerName, StoredLayer],
) -> None:
    """Refuse tables of another shape than the manifest says, or that lead out of each other.

    Tables with an entry for each row or token are not read here, whatever their size: what they say is checked when it
    is used.
    """
    N, V, S, T = manifest.rows, manifest.words, manifest.sentences, manifest.tokens
    shapes = {
        "words": (len(tables["words"]),) if tables["words"].ndim else (),
        "word_ends": (V + 1,),
        "word_starts": (V + 1,),
        "word_counts": (V,),
        "row_sentences": (N,),
        "row_places": (N,),
        "tokens": (T,),
        "sentence_starts": (S + 1,),
        "sentence_files": (S,),
        "sentence_lines": (S,),
    }
    for name, dtype in TABLES.items():
        _require(folder / table_file(name), tables[name], dtype, shapes[name])
    for name, layer in layers.items():
        M = V if name == TOKENS else N
        _require(folder / vector_file(name), layer.rows, STORED[manifest.store], (M, manifest.dim))
        _require(folder / mean_file(name), layer.mean, np.dtype(np.float32), (manifest.dim,))
        assert layer.distances is not None
        _require(folder / distance_file(name), layer.distances, np.dtype(np.float32), (M,))
        if layer.scales is not None:
            _require(folder / scale_file(name), layer.scales, np.dtype(np.float32), (M,))
    for name, end in (("word_ends", len(tables["words"])), ("word_starts", N), ("sentence_starts", T)):
        starts = tables[name]
        if starts[0] != 0 or starts[-1] != end or (starts[1:] < starts[:-1]).any():
            raise InputError(f"{folder / table_file(name)}: should rise from 0 to {end}; build the index again")


def _require(path: Path, table: npt.NDArray[Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    if table.dtype != dtype or table.shape != shape or not table.flags.c_contiguous:
        raise InputError(
            f"{path}: holds {table.dtype} {list(table.shape)}, but it should hold {dtype} {list(shape)}; build the "
            "index again"
        )


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """A manifest as it is written."""
    return json.dumps(manifest, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
