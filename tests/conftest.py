"""Fixtures for all tests: tiny models and texts, made here."""

import os

# Several test processes share few cores; threads would only wait for each other. Set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

import pytest
from tests.tiny import make_bilm

from elmo.model.bilm import BiLM

try:
    from hypothesis import settings
except ImportError:  # environments for one library or for the browser are without it
    pass
else:
    settings.register_profile("no-deadline", deadline=None)  # on a busy machine any example may take long
    settings.load_profile("no-deadline")


@pytest.fixture(autouse=True)
def _records_of_finished_jobs_apart(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder: Path = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setattr("elmo.embed.bulk.finished.cache_directory", lambda: folder)


@pytest.fixture(scope="session")
def bilm() -> BiLM:
    return make_bilm()
