"""What a run will be, told before its first step: text, model, steps, minutes, memory, and which of it was chosen."""

import torch

from elmo.corpus.store import CorpusStore
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.memory import MemoryEstimate
from elmo.pretrain.plan import Plan

OPTIONS = {"size": "--size", "batch_size": "--batch-size", "epochs": "--epochs"}  # that people most often give


def describe_plan(
    plan: Plan,
    asked: TrainConfig,
    store: CorpusStore,
    *,
    parameters: int,
    seconds: float,
    memory: MemoryEstimate,
    free: int | None,
    device: str,
) -> list[str]:
    """Lines for a reader. `asked` is the configuration before anything was chosen, `seconds` those that are left."""
    train, heldout = store.counts["train"], store.counts["heldout"]
    config = plan.config
    lstm = config.architecture.lstm
    size = "its own size" if config.size is None else config.size
    place = f"{memory.total / 1e9:.1f} GB" + ("" if free is None else f" of {free / 1e9:.1f} GB free")
    text = f"{train.words:,} tokens to train on, {heldout.words:,} held out"
    layers = f"{lstm.layers} layers of {lstm.cell_dim:,} cells and {lstm.output_dim} outputs for each direction"
    epochs = plan.steps / plan.steps_per_epoch
    steps = f"{plan.steps:,} steps of {plan.batch_size} x {config.window} tokens ({epochs:.1f} epochs)"
    lines = [
        f"text: {text}, a vocabulary of {len(store.vocabulary):,}",
        f"model: {size}, {layers}, {parameters / 1e6:.1f} M parameters",
        f"plan: {steps} with {config.optimizer.kind}, perplexity every {plan.evaluate_every:,} steps",
        f"expected: {duration(seconds)} on {device}, about {place}",
    ]
    chosen = [option for name, option in OPTIONS.items() if _is_open(asked, name)]
    if chosen:
        lines.append(f"chosen for this text and device, changed by {', '.join(chosen)}")
    return lines


def device_name(device: torch.device, *, processes: int) -> str:
    """What a run computes on, for people."""
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        return name if processes == 1 else f"{processes} x {name}"
    return f"{processes * torch.get_num_threads()} CPU threads"


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 100 else f"{minutes / 60:.1f} hours"


def _is_open(config: TrainConfig, name: str) -> bool:
    if name == "size":
        return config.size is None and config.model is None
    if name == "epochs":
        return config.epochs is None and config.steps is None
    return getattr(config, name) is None
