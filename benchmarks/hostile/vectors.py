"""The readers of files of vectors, which people send each other."""

from collections.abc import Callable
from pathlib import Path

from benchmarks.hostile.models import character_model
from benchmarks.hostile.mutations import Mutation, mutate_bytes, mutate_json_lines, mutate_npz, mutate_safetensors
from benchmarks.hostile.target import Target
from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.bulk.readers.reading import read_vectors
from elmo.embed.embedder import Embedder

LINES = "We sat . We left .\n\nnaïve 漢字\nThe bank approved my loan .\n"
MUTATIONS: dict[str, Mutation] = {
    ".safetensors": mutate_safetensors,
    ".arrow": mutate_bytes,
    ".parquet": mutate_bytes,
    ".npz": mutate_npz,
    ".jsonl": mutate_json_lines,
}  # .hdf5 is not promised (SECURITY.md): damaged attributes can send HDF5's own library into an endless loop


def vector_targets(directory: Path) -> list[Target]:
    """One target for each format."""
    directory.mkdir(parents=True)
    (directory / "text.txt").write_text(LINES, encoding="utf-8")
    embedder = Embedder(character_model(), device="cpu")
    targets = []
    for suffix, mutate in MUTATIONS.items():
        output = directory / f"out{suffix}"
        embed_file(embedder, str(directory / "text.txt"), str(output), options=BulkOptions(tokenized=True))
        files = {output.name: output.read_bytes()}
        targets.append(Target(f"vectors: {suffix}", files, output.name, mutate, _reader(output.name)))
    return targets


def _reader(name: str) -> Callable[[Path], object]:
    def read(directory: Path) -> object:
        with read_vectors(directory / name) as lines:
            return list(lines), lines.token_vectors(0, int(lines.line_starts[-1]))

    return read
