"""Models that are not read here, known by their files: what each is and what can be done. Reads no weights."""

from pathlib import Path

from elmo.disk.guarded.plainfiles import read_json, shortened
from elmo.errors import WeightsError

_DUMP = (
    "export its weights where it was trained: bilm-tf's bin/dump_weights.py writes the weights.hdf5 that is read here"
)
_SAVED_MODEL = "saved_model.pb"
_CHECKPOINT = (".index", ".meta", ".data-00000-of-00001")


def foreign_model(path: Path) -> str | None:
    """What lies there, if it is a kind of model that people take for one of ours; in words that follow its path."""
    if path.is_dir():
        names = [entry.name for entry in path.iterdir()]
        if _SAVED_MODEL in names:
            return "is a SavedModel of TensorFlow (TF Hub), whose graph is not read; use the model's HDF5 release"
        if "checkpoint" in names and any(name.endswith(_CHECKPOINT) for name in names):
            return f"is a checkpoint of TensorFlow; {_DUMP}"
        return _transformer(path)
    if path.name == _SAVED_MODEL:
        return "is a SavedModel of TensorFlow (TF Hub), whose graph is not read; use the model's HDF5 release"
    if path.name.endswith(_CHECKPOINT):
        return f"is a part of a checkpoint of TensorFlow; {_DUMP}"
    return None


def _transformer(path: Path) -> str | None:
    """A model of Hugging Face's transformers says in config.json of what kind it is."""
    try:
        kind = read_json(path / "config.json").get("model_type")
    except WeightsError:
        return None
    if kind == "elmo" and (path / "model.safetensors.index.json").is_file():
        return "is an ELMo whose weights transformers wrote in several files; save it without `max_shard_size`"
    if kind == "elmo":
        return (
            "is an ELMo with a head of transformers; load it there, after `import elmo.integrations.transformers` "
            "(`model.elmo.save(FOLDER)` writes the ELMo alone)"
        )
    return None if kind is None else f"is a model of the kind {shortened(kind)} (transformers), not an ELMo"
