"""Fixtures for all tests: tiny models and texts, made here."""

import os

# Several test processes share few cores; threads would only wait for each other. Set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from tests.tiny import make_bilm

from elmo.model.bilm import BiLM


@pytest.fixture(scope="session")
def bilm() -> BiLM:
    return make_bilm()
