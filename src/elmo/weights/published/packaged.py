"""The model that comes with the package: `english`, in `elmo/models/english`. Its file is checked against its hash."""

from importlib.resources import files
from pathlib import Path
from typing import Any

from elmo.disk.guarded.plainfiles import file_sha256, member
from elmo.errors import WeightsError
from elmo.weights.native import CONFIG, WEIGHTS, find_config, is_native

DEFAULT = "english"
MODELS = "models"


def packaged_directory(name: str = DEFAULT) -> Path:
    """Where a packaged model lies, whether or not it is there."""
    return Path(str(files("elmo"))) / MODELS / name


def has_packaged(name: str = DEFAULT) -> bool:
    """Whether this installation brings the model."""
    return is_native(packaged_directory(name))


def find_packaged(name: str = DEFAULT) -> tuple[Path, dict[str, Any]]:
    """The directory of a packaged model whose weights are those that were packaged, and its config.json."""
    directory = packaged_directory(name)
    config = find_config(directory)
    if config is None:
        raise WeightsError(
            f"{name}: this installation of elmo comes without its model ({directory} is missing); "
            "name another one (a directory, an HDF5 file, or a published model)"
        )
    recorded: Any = config.get("weights")
    wanted = recorded.get("sha256") if isinstance(recorded, dict) else None
    found = file_sha256(member(directory, WEIGHTS))
    if found != wanted:
        raise WeightsError(
            f"{directory / WEIGHTS}: sha256 is {found}, but {CONFIG} says {str(wanted)[:64]}; the file is damaged: "
            "install the package again"
        )
    return directory, config
