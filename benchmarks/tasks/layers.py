"""What each layer knows: word senses and parts of speech, layer by layer, beside the paper's tables 5 and 6.

    python -m benchmarks.tasks.layers --model MODEL -o results --semcor SemCor/semcor.data.xml \
        --index-sense WordNet-3.0/index.sense --senses senseval2.data.xml senseval3.data.xml ... \
        --pos-train train.conllu --pos-dev dev.conllu --pos-test test.conllu --seeds 3
"""

import argparse
import datetime
import json
import statistics
import time
from pathlib import Path

from elmo.embed.module import Elmo
from elmo.ops.device import choose_device
from elmo.tasks.embedding.layercache import LayerStore
from elmo.tasks.probe.linear import ProbeConfig, probe_layers
from elmo.tasks.tagging.task import Tagging, TaggingConfig
from elmo.tasks.wsd.evaluate import TOGETHER, evaluate_senses

PAPER_SENSES = "| *the paper (four sets together)* | | 65.9 | | 67.4 | 69.0 | |"
PAPER_TAGS = "| *the paper (Penn Treebank)* | | 97.3 | 96.8 |"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--semcor")
    parser.add_argument("--index-sense")
    parser.add_argument("--senses", nargs="+", default=[])
    for part in ("train", "dev", "test"):
        parser.add_argument(f"--pos-{part}")
    parser.add_argument("--label-column", type=int)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--device")
    given = parser.parse_args(arguments)
    given.output.mkdir(parents=True, exist_ok=True)
    elmo = Elmo.from_pretrained(given.model).to(choose_device(given.device)).eval()
    lines = ["# Layers", "", f"Made on {datetime.date.today().isoformat()}; biLM {elmo.model.sha256[:16]}", ""]
    found: dict[str, object] = {"bilm": elmo.model.sha256}
    if given.senses:
        began = time.perf_counter()
        scores = evaluate_senses(elmo, given.semcor, given.senses, given.index_sense, output=given.output / "senses")
        names = " | ".join(f"layer {n}" for n in range(len(scores[0].layers)))
        lines += [f"## Word senses (F1, {time.perf_counter() - began:.0f} s)", ""]
        lines += [f"| test set | words | first sense | {names} | mean |", "|---" * (4 + len(scores[0].layers)) + "|"]
        for s in scores:
            numbers = " | ".join(f"{value:.1f}" for value in [s.first, *s.layers, s.mean])
            lines.append(f"| {'**together**' if s.name == TOGETHER else s.name} | {s.instances:,} | {numbers} |")
        lines += [PAPER_SENSES, ""]
        found["senses"] = [vars(s) for s in scores]
    if given.pos_train:
        began = time.perf_counter()
        reader = Tagging(TaggingConfig(chunks=False, label_column=given.label_column))
        parts = [reader.read(path) for path in (given.pos_train, given.pos_dev, given.pos_test)]
        store = LayerStore()
        results = [
            probe_layers(elmo, *parts, config=ProbeConfig(seed=seed, epochs=given.epochs), store=store)
            for seed in range(1, given.seeds + 1)
        ]
        names = " | ".join(f"layer {n}" for n in range(len(results[0].dev)))
        lines += [
            f"## Parts of speech, linear probe (accuracy, {given.seeds} seeds, {time.perf_counter() - began:.0f} s)",
            "",
        ]
        lines += [f"| split | {names} |", "|---" * (1 + len(results[0].dev)) + "|"]
        for split in ("dev", "test"):
            columns = zip(*(getattr(r, split) for r in results), strict=True)
            lines.append(f"| {split} | {' | '.join(_spread(c) for c in columns)} |")
        lines += [PAPER_TAGS, ""]
        found["tags"] = [vars(r) for r in results]
    (given.output / "layers.md").write_text("\n".join(lines), encoding="utf-8")
    (given.output / "layers.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines))


def _spread(values: tuple[float, ...]) -> str:
    deviation = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{deviation}"


if __name__ == "__main__":
    main()
