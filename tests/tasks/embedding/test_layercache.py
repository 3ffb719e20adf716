"""Cached layers: equal to computed ones, once in memory or on disk, bounded, shared."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from elmo.embed.module import Elmo
from elmo.tasks.embedding import layercache
from elmo.tasks.embedding.layercache import SUFFIX, CacheConfig, LayerStore
from elmo.tasks.embedding.texts import TextTable
from elmo.tasks.examples import Text
from elmo.weights.loaded import LoadedModel

WORDS = [("The", "bank", "is", "open", "."), ("Yes",), ("a", "b", "c"), ("The", "bank", "is", "open", ".")]
TEXTS = [Text(words) for words in WORDS]
ROWS = np.array([2, 0, 1])
CPU = torch.device("cpu")


def table(model: LoadedModel, config: CacheConfig | None, **options: Any) -> TextTable:
    elmo = Elmo(model, **options).eval()
    return TextTable(TEXTS, word_list=None, elmo=elmo, device=CPU, store=None if config is None else LayerStore(config))


@pytest.mark.parametrize("memory", [None, 0], ids=["loaded", "mapped"])
@pytest.mark.parametrize("mixed_layers", ["all", "top"])
def test_cached_layers_are_the_computed_ones(
    memory: int | None, mixed_layers: Any, model: LoadedModel, tmp_path: Path
) -> None:
    elmo = Elmo(model, mixed_layers=mixed_layers).eval()
    computed, mask = elmo.layers([WORDS[n] for n in ROWS])
    for config in (CacheConfig(), CacheConfig(folder=tmp_path, memory=memory)):
        batch = table(model, config, mixed_layers=mixed_layers).batch(ROWS)
        assert batch.layers is not None
        assert torch.equal(batch.mask, mask)
        inside = mask[None, :, :, None]
        torch.testing.assert_close(batch.layers * inside, computed, rtol=2e-3, atol=2e-3)
    assert [path.suffix for path in tmp_path.glob(f"*{SUFFIX}")] == [".npy"]


def test_the_same_text_is_kept_once(model: LoadedModel) -> None:
    texts = table(model, None)
    assert len(texts) == len(texts.sentences) == 3
    assert texts.numbers(TEXTS).tolist() == [0, 1, 2, 0]


def test_a_folder_is_computed_once_for_all_runs(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = table(model, CacheConfig(folder=tmp_path)).batch(ROWS).layers
    monkeypatch.setattr(layercache, "layer_batches", lambda *_: pytest.fail("computed again"))
    second = table(model, CacheConfig(folder=tmp_path)).batch(ROWS).layers
    assert first is not None
    assert second is not None
    assert torch.equal(first, second)


def test_a_store_shares_what_is_in_memory(model: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LayerStore()
    elmo = Elmo(model)
    TextTable(TEXTS, word_list=None, elmo=elmo, device=CPU, store=store)
    monkeypatch.setattr(layercache, "layer_batches", lambda *_: pytest.fail("computed again"))
    TextTable(TEXTS, word_list=None, elmo=Elmo(model), device=CPU, store=store)


def test_a_folder_stays_within_its_bound(model: LoadedModel, tmp_path: Path) -> None:
    one = 2 * 9 * 3 * 16  # bytes of the nine tokens
    for n in range(4):
        elmo = Elmo(model)
        texts = [Text((*words, str(n))) for words in WORDS[:2]]
        config = CacheConfig(folder=tmp_path, disk=3 * one)
        TextTable(texts, word_list=None, elmo=elmo, device=CPU, store=LayerStore(config))
    kept = list(tmp_path.glob(f"*{SUFFIX}"))
    assert 1 <= len(kept) < 4
    assert sum(path.stat().st_size for path in kept) <= 3 * one + 3 * 128  # each file has a header


def test_memory_stays_within_its_bound(model: LoadedModel, caplog: pytest.LogCaptureFixture) -> None:
    one = 2 * 8 * 3 * 16  # bytes of the eight tokens
    store = LayerStore(CacheConfig(memory=2 * one))
    for n in range(4):
        texts = [Text((*words, str(n))) for words in WORDS[:2]]
        TextTable(texts, word_list=None, elmo=Elmo(model), device=CPU, store=store)
    assert sum(layers.bytes_in_memory for layers in store._held.values()) == 2 * one
    assert "0.0 GB of memory may be used" in caplog.text


def test_a_file_that_another_process_removed_is_made_again(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, opened = layercache._open_map, []

    def remove_first(path: Path) -> Any:
        opened.append(path)
        if len(opened) == 2:  # made, and gone before it is open
            path.unlink()
        return real(path)

    monkeypatch.setattr(layercache, "_open_map", remove_first)
    assert table(model, CacheConfig(folder=tmp_path)).batch(ROWS).layers is not None
    assert len(opened) == 3


def test_without_room_layers_are_computed_for_each_batch(model: LoadedModel, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        batch = table(model, CacheConfig(memory=0)).batch(ROWS)
    assert batch.layers is None
    assert "computed anew in every epoch" in caplog.text


def test_a_trained_bilm_is_never_cached(model: LoadedModel) -> None:
    assert table(model, None, train_bilm=True).batch(ROWS).layers is None


def test_a_failed_computation_leaves_nothing_behind(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Any:
        raise RuntimeError("out of memory")
        yield

    monkeypatch.setattr(layercache, "layer_batches", fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        table(model, CacheConfig(folder=tmp_path))
    assert [path.suffix for path in tmp_path.iterdir()] in ([], [".lock"])
