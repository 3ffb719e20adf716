"""The task models on a GPU: bf16 training, the same answers as on the CPU, resumption, the CRF."""

from pathlib import Path

import pytest
import torch
from tests.tasks.conftest import SAMPLES_OF_TASKS, Sample, small_recipe

from elmo.ops.crf import Chain, crf_best_path, crf_loss
from elmo.tasks.embedding.layercache import CacheConfig, LayerStore
from elmo.tasks.training.directory import load_trained_task
from elmo.tasks.training.trainer import train_task
from elmo.weights.loaded import LoadedModel

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
ALL = pytest.mark.parametrize("sample", SAMPLES_OF_TASKS.values(), ids=SAMPLES_OF_TASKS.keys())


@ALL
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_task_learns_on_a_gpu_and_answers_alike_on_a_cpu(
    sample: Sample, precision: str, model: LoadedModel, tmp_path: Path
) -> None:
    recipe = small_recipe(sample, train__epochs=60, train__precision=precision, embedding__elmo__where="both")
    task = recipe.make_task()
    eight = task.read(str(sample.train))[:8]
    result = train_task(sample.task, recipe, eight, eight, tmp_path / "run", model=model, device="cuda")
    assert result.scores[task.metric] == 100.0
    assert load_trained_task(tmp_path / "run", device="cpu").predict(eight) == [e.answer for e in eight]


def test_a_run_stopped_on_a_gpu_goes_on(model: LoadedModel, tmp_path: Path) -> None:
    sample = SAMPLES_OF_TASKS["ner"]
    recipe = small_recipe(sample, train__epochs=3, train__checkpoint_minutes=0.0)
    task = recipe.make_task()
    train, dev = task.read(str(sample.train)), task.read(str(sample.dev))
    first = train_task("ner", recipe, train, dev, tmp_path / "run", model=model, device="cuda", time_limit=0.0)
    assert not first.done
    store = LayerStore(CacheConfig(folder=tmp_path / "cache", memory=0))
    assert train_task(
        "ner", recipe, train, dev, tmp_path / "run", model=model, device="cuda", store=store, resume=True
    ).done


def test_the_crf_gives_on_a_gpu_what_it_gives_on_a_cpu() -> None:
    generator = torch.Generator().manual_seed(0)
    N, T, K = 17, 60, 19
    emissions = 3 * torch.randn(N, T, K, generator=generator)
    chain = [torch.randn(*shape, generator=generator) for shape in ((K, K), (K,), (K,))]
    lengths = torch.randint(1, T + 1, (N,), generator=generator)
    tags = torch.randint(0, K, (N, T), generator=generator)
    results = []
    for device in ("cpu", "cuda"):
        leaves = [x.clone().to(device).requires_grad_() for x in (emissions, *chain)]
        loss = crf_loss(leaves[0], tags.to(device), lengths.to(device), Chain(*leaves[1:]))
        loss.sum().backward()
        path = crf_best_path(leaves[0], lengths.to(device), Chain(*leaves[1:]))
        results.append([loss.detach().cpu(), path.cpu(), *(leaf.grad.cpu() for leaf in leaves)])
    for cpu, cuda in zip(*results, strict=True):
        torch.testing.assert_close(cuda, cpu, rtol=1e-4, atol=1e-4)
