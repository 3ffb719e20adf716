"""Every integration with its real library in a fresh process: the vectors of `encode`, saving, processes, one epoch.

A process has caches of its own, cannot connect to another machine (`offline/sitecustomize.py`), and ends at any
warning, but for those that a library gives by itself, which stand below one by one with their reason.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.integrations.hubserver import Hub, serving
from tests.integrations.making import write_tiny

from elmo.apps.cli import main

ROOT = Path(__file__).parent.parent.parent
PROOFS = Path(__file__).parent / "proofs"
OFFLINE = Path(__file__).parent / "offline"


@dataclass(frozen=True)
class TheirWarning:
    """A warning that is not ours, as `-W` names it."""

    library: str
    category: str
    message: str  # how it begins
    reason: str


pytestmark = pytest.mark.timeout(3600)  # against a hang alone: the libraries import for long on a busy machine

THEIRS = {
    "hub": [
        TheirWarning(
            library="huggingface_hub 2.4.0",
            category="DeprecationWarning",
            message="Use 'content=<...>' to upload raw bytes/text content.",
            reason="it sends large files by an argument that httpx would rather have under another name",
        ),
    ],
    "flair": [
        TheirWarning(
            library="Flair 0.15.1",
            category="FutureWarning",
            message="`torch.cuda.amp.GradScaler(args...)` is deprecated.",
            reason="its ModelTrainer makes one at every start, by the name that torch had for it before 2.4",
        ),
    ],
}


def prove(name: str, *arguments: str, home: Path, **environment: str) -> None:
    """Run `proofs/prove_<name>.py`; what it says on its error output is why it failed."""
    allowed = [f"-Wignore:{warning.message}:{warning.category}" for warning in THEIRS.get(name, [])]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "ELMO_", "PYTHON"))}
    caches = {"HF_HOME": str(home / "hf"), "ELMO_CACHE": str(home / "elmo"), "FLAIR_CACHE_ROOT": str(home / "flair")}
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    path = {"PYTHONPATH": os.pathsep.join(map(str, (OFFLINE, ROOT / "src")))}
    done = subprocess.run(
        [sys.executable, "-W", "error", *allowed, str(PROOFS / f"prove_{name}.py"), *arguments],
        env={**kept, **caches, **quiet, **path, "HF_HUB_OFFLINE": "1", **environment},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "tiny")


@pytest.mark.integration
@pytest.mark.parametrize("library", ["sklearn", "spacy"])
def test_vectors_saving_processes_and_training(library: str, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip(library, reason=f"needs {library} (make test-integrations has it)")
    prove(library, str(folder), str(tmp_path), home=tmp_path)


@pytest.mark.integration
@pytest.mark.parametrize("library", ["transformers", "sentence_transformers"])
def test_the_same_of_the_folder_for_transformers(library: str, folder: Path, tmp_path: Path) -> None:
    for needed in (library, "datasets", "accelerate"):
        pytest.importorskip(needed, reason=f"needs {needed} (make test-integrations has it)")
    assert main(["convert", str(folder), str(tmp_path / "hf-model"), "--to", "transformers"]) == 0
    prove(library, str(tmp_path / "hf-model"), str(tmp_path), home=tmp_path)


@pytest.mark.integration
def test_the_same_of_a_model_of_the_hub(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub", reason="needs huggingface_hub (make test-integrations has it)")
    hub = Hub()
    commit = hub.commit("me/tiny", {path.name: path.read_bytes() for path in folder.iterdir()})
    with serving(hub) as address:
        settings = {"HF_ENDPOINT": address, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": "t"}
        prove("hub", str(folder), str(tmp_path), f"hf:me/tiny@{commit}", home=tmp_path, **settings)


@pytest.mark.flair
def test_the_same_in_flair(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("flair", reason="needs Flair, the extra `flair`, in an environment of its own")
    prove("flair", str(folder), str(tmp_path), home=tmp_path)


def test_the_process_of_a_proof_reaches_no_other_machine() -> None:
    code = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(OFFLINE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "PermissionError: this process may not connect to 192.0.2.1" in done.stderr
