"""Models on the Hugging Face Hub: `hf:user/name@revision` to a folder on this machine, and a folder to the Hub.

The files lie in the Hub's own cache. What they were when they came is kept beside our downloads: the commit and the
hash of each file, so that a model is fetched once, and is the same afterwards. Needs the extra `hub`.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from elmo.disk.cachefolder import cache_directory, why_not_private
from elmo.disk.guarded.plainfiles import file_sha256, one_line, read_json
from elmo.disk.writing import write_file
from elmo.errors import MissingExtraError, WeightsError
from elmo.weights.native import is_native
from elmo.weights.published.offline import is_offline
from elmo.weights.published.records import fetching

PREFIX = "hf:"
FOLDER = "hub"  # in the cache folder
# What a model can consist of. Nothing else of a repository is fetched or sent: no code, no pickles.
FILES = (
    "config.json",
    "model.safetensors",
    "softmax.safetensors",
    "vocab.txt",
    "words.tsv",
    "characters.tsv",
    "elmo.json",
    "elmo.safetensors",
    "tokenizer_config.json",
    "README.md",
)
_NAME = re.compile(r"hf:([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")


class HubModel(NamedTuple):
    """A repository and which state of it: a branch, a tag, a commit."""

    repository: str
    revision: str | None

    def __str__(self) -> str:
        return f"{PREFIX}{self.repository}" + (f"@{self.revision}" if self.revision else "")


def hub_model(name: str) -> HubModel:
    """What a name that begins with `hf:` says."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise WeightsError(f"{name[:200]}: is no name of a model on the Hub; hf:user/name or hf:user/name@revision is")
    return HubModel(found[1], found[2])


def hub_name(folder: Path) -> str | None:
    """The name of a model that lies in the Hub's cache, with its commit: models--user--name/snapshots/commit."""
    parts = folder.parent.parent.name.split("--")
    if folder.parent.name != "snapshots" or len(parts) != 3 or parts[0] != "models":
        return None
    return str(HubModel(f"{parts[1]}/{parts[2]}", folder.name))


def fetch_from_hub(name: str, *, offline: bool = False) -> Path:
    """The folder of a model of the Hub, fetched when it is first asked for; later the network is not asked."""
    model = hub_model(name)
    record = cache_directory() / FOLDER / f"{model.repository.replace('/', '--')}@{_as_file_name(model)}.json"
    with fetching(record):
        if record.is_file():
            known = read_json(record)
            folder = _here(model, known)
            if folder is not None:
                return folder
        else:
            known = None
        folder = _download(model, known, offline=offline or is_offline())
        hashes = {entry.name: file_sha256(entry) for entry in sorted(folder.iterdir()) if entry.name in FILES}
        if known is not None:
            _compare(model, folder, known, hashes)
        else:
            values = {"commit": folder.name, "source": str(model), "sha256": hashes}
            write_file(record, (json.dumps(values, indent=2) + "\n").encode("utf-8"))
    return folder


def push_to_hub(folder: Path, repository: str, *, private: bool = False, message: str | None = None) -> str:
    """Send a native model folder to a repository, which is made if it is not there; gives the address of the commit."""
    model = hub_model(f"{PREFIX}{repository}")
    if model.revision is not None:
        raise WeightsError(f"{repository}: a repository is wanted, without @{model.revision}")
    if not is_native(folder):
        raise WeightsError(f"{folder}: is not a native model directory; make one with `elmo convert`")
    hub = _library(str(model))
    with _refusing(str(model)):
        api = hub.HfApi(library_name="elmo-embeddings")
        api.create_repo(repository, private=private, exist_ok=True)
        done = api.upload_folder(
            repo_id=repository,
            folder_path=folder,
            allow_patterns=list(FILES),
            commit_message=message or "An ELMo model",
        )
    return str(done.commit_url)


def _as_file_name(model: HubModel) -> str:
    return (model.revision or "").replace("/", "--")


def _here(model: HubModel, known: dict[str, Any]) -> Path | None:
    """The folder as it was recorded, if it is still there; hashed again where others could have changed it."""
    hub = _library(str(model))
    try:
        folder = Path(hub.snapshot_download(model.repository, revision=known["commit"], local_files_only=True))
    except Exception:
        return None  # removed from the Hub's cache
    names = list(known.get("sha256", {}))
    if not names or not all((folder / name).is_file() for name in names):
        return None
    if any(why_not_private(path) for name in names for path in (folder, (folder / name).resolve())):
        _compare(model, folder, known, {name: file_sha256(folder / name) for name in names})
    return folder


def _compare(model: HubModel, folder: Path, known: dict[str, Any], found: dict[str, str]) -> None:
    for name, wanted in known.get("sha256", {}).items():
        if found.get(name) != wanted:
            raise WeightsError(
                f"{model}: the sha256 of {name} is {found.get(name)}, but it was {wanted} when it first came; "
                f"remove {folder} to fetch it again"
            )


def _download(model: HubModel, known: dict[str, Any] | None, *, offline: bool) -> Path:
    hub = _library(str(model))
    with _refusing(str(model)):
        return Path(
            hub.snapshot_download(
                model.repository,
                revision=known["commit"] if known else model.revision,
                allow_patterns=list(FILES),
                local_files_only=offline,
                library_name="elmo-embeddings",
            )
        )


@contextlib.contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Whatever the library or the network says, in one line that begins with the model."""
    try:
        yield
    except (MissingExtraError, WeightsError):
        raise
    except Exception as error:  # of httpx, the library and the disk: they have no common base
        raise WeightsError(f"{name}: {_why(error)}") from error


def _why(error: Exception) -> str:
    kinds = [kind.__name__ for kind in type(error).__mro__]
    if "RevisionNotFoundError" in kinds:
        return "its repository has no such branch, tag or commit (a commit is given with all of its 40 digits)"
    if "RepositoryNotFoundError" in kinds and "GatedRepoError" not in kinds:
        return "the Hub has no such repository, or it is private and needs a login (`hf auth login`)"
    if "LocalEntryNotFoundError" in kinds and is_offline():
        return "is not on this machine, and the network is not asked"
    return f"the Hub refuses or cannot be reached ({one_line(error)})"


def _library(name: str) -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtraError(
            f"{name}: the Hub needs huggingface_hub; install the extra `hub`: pip install 'elmo-embeddings[hub]', "
            "or in a clone pip install '.[hub]'"
        ) from error
    return huggingface_hub
