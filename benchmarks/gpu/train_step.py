"""The whole training step: ours as it trains, beside the same step with cuDNN's LSTM and with a plain loop in it.

    python -m benchmarks.gpu.train_step [--store CORPUS] [--sizes small,medium,original] [--optimizers muon,adam]

`elmo pretrain`'s own trainer and defaults: bfloat16, 20 steps, clips, dropout, 8192 negatives, Muon, new batches each
step; and with Adam in Muon's place. With --optimizers nothing but whole steps with each of these is timed, in turns.
Without a corpus store one is made from generated text. Tokens are those of one
direction. Then each part of the step alone, forward and backward, as a CUDA graph; `rest` is what the parts do not hold
(finding distinct words, gathering, dropout, clearing, launches). A share is of the bfloat16 product of 8192 x 8192
matrices in the same run.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

import torch

from benchmarks.corpus.build import generate
from benchmarks.gpu.peers import LSTM, using
from benchmarks.gpu.timing import gemm_peak, kernels_of, machine, print_kernels, time_calls
from elmo.corpus import CorpusStore, build_corpus
from elmo.model.characters import CharCNNConfig
from elmo.ops.softmax import draw_log_uniform
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.models import new_model
from elmo.pretrain.plan import make_plan
from elmo.pretrain.step.gradients import clip_factor
from elmo.pretrain.step.optimizers import AdamConfig, MuonConfig, OptimizerConfig
from elmo.pretrain.trainer import Trainer
from elmo.run.distributed import World

MEGABYTES = 20
OPTIMIZERS: dict[str, OptimizerConfig] = {"muon": MuonConfig(), "adam": AdamConfig()}
TURNS = 3  # of each optimizer, so that a clock that changes meets all of them


def make_trainer(
    store: CorpusStore, size: str, batch: int, *, captured: bool = True, optimizer: OptimizerConfig | None = None
) -> Trainer:
    config = TrainConfig.recipe("modern").replace(size=size, batch_size=batch)
    config = config if optimizer is None else config.replace(optimizer=optimizer)
    plan = make_plan(config, symbols=len(store.train_symbols), vocabulary=len(store.vocabulary))
    model = new_model(config, vocabulary=len(store.vocabulary))
    device = torch.device("cuda")
    if captured:
        return Trainer(store, plan, model=model, world=World(), device=device)
    with patch("elmo.pretrain.trainer.can_be_captured", return_value=False):
        return Trainer(store, plan, model=model, world=World(), device=device)


def time_steps(trainer: Trainer, *, steps: int, warm_up: int, start: int = 0) -> float:
    """Milliseconds of a step, by the clock, data included. `start`: the first step's number."""
    for step in range(start, start + warm_up):
        trainer.step(step)
    torch.cuda.synchronize()
    began = time.perf_counter()
    for step in range(start + warm_up, start + warm_up + steps):
        trainer.step(step)
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / steps * 1e3


def flops_of_step(trainer: Trainer) -> float:
    """Three products' worth of each matrix: LSTM and softmax for each position, the token encoder for each word."""
    config = trainer.model.bilm.config
    lstm, tokens = config.lstm, config.tokens
    assert isinstance(tokens, CharCNNConfig)
    D, P, H = lstm.input_dim, lstm.output_dim, lstm.cell_dim
    position = lstm.layers * (D * 4 * H + P * 4 * H + H * P) + (trainer.plan.samples or 0) * P
    F = tokens.filter_count
    windows = 9  # of a word of usual length
    word = sum(width * tokens.embedding_dim * count for width, count in tokens.filters) * windows
    word += tokens.highways * 2 * F * F + F * tokens.output_dim
    positions = lstm.directions * trainer.config.window * trainer.plan.batch_size
    return 3 * 2.0 * (positions * position + trainer.capacity * word)


def parts_of(trainer: Trainer) -> dict[str, Callable[[], object]]:
    """Forward and backward of each part on the numbers of one step."""
    bilm, head = trainer.model.bilm, trainer.model.head
    symbols = trainer.source.symbols(0)
    found = torch.unique(trainer.table.input_symbols(symbols[:, :-1]))
    found = torch.cat([found, found.new_zeros(trainer.capacity - len(found))])
    P, R, B, T = (
        bilm.config.lstm.output_dim,
        bilm.config.lstm.directions,
        trainer.plan.batch_size,
        trainer.config.window,
    )
    x = torch.randn(R, T, B, P, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    hidden = torch.randn(R * T * B, P, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    targets = trainer.table.target_ids(symbols[:, 1:]).reshape(-1)
    dvectors = torch.randn(len(found), P, device="cuda", dtype=torch.bfloat16)
    generator = torch.Generator("cuda").manual_seed(0)
    samples = draw_log_uniform(trainer.plan.samples or 1, len(trainer.store.vocabulary), generator=generator)

    def tokens() -> None:
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            vectors = bilm.tokens(trainer.table.rows[found])
        vectors.backward(dvectors)

    def lstm() -> None:
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            outputs, _ = bilm.lstm(x, trainer.state)
        outputs[-1].backward(x.detach())

    def softmax() -> None:
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            losses = head.training_losses(hidden, targets, samples)
        losses.sum().backward()

    def optimizer() -> None:
        norm = trainer.gradients.norm()
        trainer.optimizer.update(1e-9, ~torch.isfinite(norm), clip_factor(norm, 1.0))

    return {"token encoder": tokens, "LSTM": lstm, "softmax": softmax, "optimizer": optimizer}


def report(name: str, milliseconds: float, tokens: int, flops: float, peak: float) -> None:
    rate = flops / milliseconds / 1e9
    print(
        f"  {name:28s} {milliseconds:8.3f} ms {tokens / milliseconds:9.1f}k tok/s {rate:6.1f} TFLOP/s "
        f"{rate / peak:6.1%} of gemm peak",
        flush=True,
    )


def run(store: CorpusStore, sizes: list[str], batches: list[int], *, peers: list[str], profile: bool) -> None:
    peak = gemm_peak()
    print(f"bfloat16 product {peak:.0f} TFLOP/s; {len(store.vocabulary):,} words, {len(store.train_symbols):,} symbols")
    for size in sizes:
        for batch in batches:
            trainer = make_trainer(store, size, batch)
            tokens = batch * trainer.config.window
            flops = flops_of_step(trainer)
            print(f"{size} B={batch} T={trainer.config.window}: places for {trainer.capacity} distinct words")
            whole = time_steps(trainer, steps=60, warm_up=10)
            report("ours", whole, tokens, flops, peak)
            if profile:
                print_kernels(kernels_of(partial(trainer.step, 70), top=40))
            rest = whole
            for name, part in parts_of(trainer).items():
                milliseconds = time_calls(part).median
                rest -= milliseconds
                print(f"    {name:26s} {milliseconds:8.3f} ms {milliseconds / whole:6.1%}")
            print(f"    {'rest':26s} {rest:8.3f} ms {rest / whole:6.1%}", flush=True)
            del trainer, part
            torch.cuda.empty_cache()
            other = make_trainer(store, size, batch, optimizer=AdamConfig())
            report("ours, with Adam", time_steps(other, steps=60, warm_up=10), tokens, flops, peak)
            del other
            torch.cuda.empty_cache()
            for peer in peers:
                with using(peer):
                    other = make_trainer(store, size, batch, captured=False)
                    milliseconds = time_steps(other, steps=10, warm_up=3)
                report(f"with {LSTM[peer]}", milliseconds, tokens, flops, peak)
                del other
                torch.cuda.empty_cache()


def compare_optimizers(store: CorpusStore, sizes: list[str], batches: list[int], names: list[str]) -> None:
    """Whole steps with each optimizer, the fastest of some turns; a share is of the first one's step."""
    for size in sizes:
        for batch in batches:
            trainers = {name: make_trainer(store, size, batch, optimizer=OPTIMIZERS[name]) for name in names}
            times: dict[str, list[float]] = {name: [] for name in names}
            for turn in range(TURNS):
                for name, trainer in trainers.items():
                    done = turn * 50
                    times[name].append(time_steps(trainer, start=done, steps=40, warm_up=10))
            best = {name: min(found) for name, found in times.items()}
            for name, trainer in trainers.items():
                alone = time_calls(parts_of(trainer)["optimizer"]).median
                more = (best[names[0]] - best[name]) / best[names[0]]
                tokens = batch * trainer.config.window / best[name]
                print(
                    f"{size} B={batch} {name:6s} {best[name]:8.3f} ms {tokens:9.1f}k tok/s, {more:6.1%} less than "
                    f"{names[0]}; optimizer alone {alone:.3f} ms; turns {' '.join(f'{t:.2f}' for t in times[name])}",
                    flush=True,
                )
            del trainers, trainer
            torch.cuda.empty_cache()


def open_store(given: Path | None, folder: Path) -> CorpusStore:
    """The store that was given, or one of generated text."""
    if given is not None:
        return CorpusStore.open(given)
    (folder / "text").write_bytes(generate(int(MEGABYTES * 1e6)))
    return build_corpus([folder / "text"], folder / "store")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, help="a corpus store; made from generated text if left out")
    parser.add_argument("--sizes", default="small,medium,original")
    parser.add_argument("--rows", default="128,512,1024,2048")
    parser.add_argument("--peers", default="cudnn,loop")
    parser.add_argument("--optimizers", help="muon,adam: whole steps with these and nothing else")
    parser.add_argument("--profile", action="store_true", help="list the kernels of a step")
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        store = open_store(arguments.store, Path(name))
        batches = [int(b) for b in arguments.rows.split(",")]
        if arguments.optimizers:
            compare_optimizers(store, arguments.sizes.split(","), batches, arguments.optimizers.split(","))
            return
        peers = [peer for peer in arguments.peers.split(",") if peer]
        run(store, arguments.sizes.split(","), batches, peers=peers, profile=arguments.profile)


if __name__ == "__main__":
    main()
