"""`elmo.load`: a name or a path to an `Embedder`."""

import os
from pathlib import Path

from elmo.disk.stamps import stamp_of
from elmo.embed.choices import Precision
from elmo.embed.embedder import Embedder, Reference
from elmo.embed.precision import products_of
from elmo.model.choices import StateMode
from elmo.ops.cpu.packed_file import PackedFile
from elmo.ops.where import name_of_device
from elmo.weights.formats import FoundModel, find_model, read_model
from elmo.weights.native import NATIVE
from elmo.weights.packedfiles import packed_path
from elmo.weights.published.packaged import DEFAULT


def load(
    name_or_path: str | os.PathLike[str] | None = None,
    *,
    device: str | None = None,
    precision: Precision | None = None,
    state: StateMode = "settled",
    num_threads: int | None = None,
    options: str | os.PathLike[str] | None = None,
    offline: bool = False,
) -> Embedder:
    """Load a model for embedding.

    `name_or_path`: a directory or file of any supported format, the name of a published model, or one of the Hugging
    Face Hub (`hf:user/name` or `hf:user/name@revision`); the packaged English model if it is not given.
    `device`: "cpu", "cuda", "cuda:1"; a GPU is taken if there is one. `precision`: what is computed in: "float32"
    (default), "float64", on a GPU "bfloat16" or "float16", on a CPU "int8" (faster, weights in a quarter of the memory,
    vectors a little off; see docs/speed.md) or "bfloat16" (half the memory, nearer; fast where the processor has
    instructions for it). `state`: where each sentence starts: "settled" (the state between sentences; results depend on
    nothing but the sentence), "zero", or "carry" (from the sentence before in the batch row, as bilm-tf and AllenNLP
    do). `num_threads`: CPU threads during `encode`. `options`: the options.json of an HDF5
    file, where it does not stand beside it under a name that tells. `offline`: never ask the network for a published
    model.
    """
    source = DEFAULT if name_or_path is None else str(name_or_path)
    options = None if options is None else str(options)
    found = find_model(source, offline=offline)
    packed = None if source == DEFAULT else _packed_file(found, device, precision)  # the packaged model is small
    # What is packed was searched for NaN when it was made: no number of a large model is read twice.
    unseen = packed is None or not packed.is_mapped
    given = None if options is None else Path(options)
    model = read_model(found, options=given, finite=unseen)
    reference = Reference(source, device, precision, state, num_threads, options, offline, stamp_of(found.path))
    return Embedder(
        model,
        device=device,
        precision=precision,
        state=state,
        num_threads=num_threads,
        reference=reference,
        packed=packed,
    )


def _packed_file(model: FoundModel, device: str | None, precision: Precision | None) -> PackedFile | None:
    if name_of_device(device) != "cpu" or model.format is not NATIVE:
        return None
    products = products_of(precision, "cpu")
    if precision not in (None, "float32", products):  # torch's
        return None
    path = packed_path(model.path, products=products)
    return None if path is None else PackedFile(path)
