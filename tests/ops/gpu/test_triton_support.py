"""Where Triton kernels can run, and that their absence is said once, not at every call."""

import importlib.util
import logging
from collections.abc import Iterator

import pytest
import torch

from elmo.ops.gpu.triton_support import triton_runs_on


@pytest.fixture(autouse=True)
def a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    triton_runs_on.cache_clear()
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "Tiny GPU")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    yield
    triton_runs_on.cache_clear()


def test_a_processor_needs_no_triton(caplog: pytest.LogCaptureFixture) -> None:
    assert not triton_runs_on(torch.device("cpu"))
    assert not caplog.records


def test_a_new_gpu_with_triton_uses_it(caplog: pytest.LogCaptureFixture) -> None:
    assert triton_runs_on(torch.device("cuda"))
    assert not caplog.records


def test_an_old_gpu_falls_back_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (7, 5))
    with caplog.at_level(logging.WARNING):
        assert not triton_runs_on(torch.device("cuda"))
        assert not triton_runs_on(torch.device("cuda"))
    assert [record.getMessage() for record in caplog.records] == [
        "Tiny GPU has compute capability 7.5; kernels need 8.0, so plain torch is used"
    ]


def test_a_gpu_without_triton_falls_back_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with caplog.at_level(logging.WARNING):
        assert not triton_runs_on(torch.device("cuda"))
        assert not triton_runs_on(torch.device("cuda"))
    assert len(caplog.records) == 1
    assert "Triton is not installed" in caplog.text
