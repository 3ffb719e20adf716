"""The English model's card and its place in the package, from what `recipes.english.card_figures` wrote.

    python -m recipes.english.card WORK --corpus corpus.json [--commands commands.txt] [--ngram ngram.json]
        [--word2vec vectors.npz] [--output src/elmo/models/english]

Writes the model directory: weights, vocabulary, card and curves. `corpus.json` is that of the corpus store;
`commands.txt` holds the exact commands of the training (the usual ones are written where it is not given). The figures
of the references are for `figures.json` where they were not at hand before; word2vec needs no GPU.
"""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from benchmarks.senses.measure import measure

import elmo
from elmo.disk.directories import atomic_directory
from elmo.disk.guarded.plainfiles import file_sha256
from elmo.disk.writing import write_file
from elmo.pretrain.progress import corpus_identity
from elmo.run.curves import draw_curves
from elmo.weights.native import WEIGHTS, is_native
from elmo.weights.softmaxfile import SOFTMAX
from elmo.weights.verify import verify_model
from recipes.english.neighbors import rows as neighbor_rows
from recipes.english.neighbors import table
from recipes.english.sources import SOURCES, source_of
from recipes.english.word2vec import read_vectors

PACKAGED = Path("src/elmo/models/english")
TEMPLATE = Path(__file__).with_name("card_template.md")

TEXTS = {
    "english_heldout.txt": "held-out English (blocks of the same sources)",
    "english_heldout_new.txt": "held-out English of the later sources",
    "wikitext103_valid.txt": "WikiText-103, validation",
    "lm1b_heldout_dev.tokens": "One Billion Word Benchmark, held-out part",
    "ptb.valid.txt": "Penn Treebank, validation",
}
COMMANDS = """elmo corpus build TEXTS -o corpus --vocabulary-size 100000 --heldout-file english_heldout.txt
elmo pretrain corpus -o run --config recipes/english/english.toml
python -m recipes.english.card_figures run --data DATA --work work
python -m recipes.english.card work --corpus corpus/corpus.json
"""


def tokens_by_source(manifest: dict[str, Any]) -> dict[str, int]:
    """The tokens that were trained on, by source. A file of no known source fails."""
    tokens: dict[str, int] = {}
    for entry in manifest["sources"]:
        if entry["heldout"]:
            continue
        name = source_of(Path(entry["name"]).name).name
        tokens[name] = tokens.get(name, 0) + entry["tokens"]
    return tokens


def source_rows(tokens: dict[str, int]) -> list[str]:
    """A row of the table of data for each source."""
    return [
        f"| {one.what} | {one.genre} | {tokens[one.name] / 1e6:.1f} M | {one.licence} | {one.evidence} | {one.origin} |"
        for one in SOURCES
        if one.name in tokens
    ]


def share_alike(tokens: dict[str, int]) -> float:
    """The share of the tokens whose licence asks for the same licence."""
    return sum(tokens.get(one.name, 0) for one in SOURCES if "BY-SA" in one.licence) / sum(tokens.values())


def perplexity_rows(figures: dict[str, Any]) -> list[str]:
    """Each text in the three ways to start a sentence."""
    return [
        f"| {TEXTS[name]} | {state} | {p['forward']:.2f} | {p['backward']:.2f} | **{p['average']:.2f}** "
        f"| {p['unknown_rate']:.2%} | {p['symbols']:,} |"
        for name, states in figures["perplexity"].items()
        for state, p in states.items()
    ]


def reference_rows(figures: dict[str, Any], corpus: str) -> list[str]:
    """The n-gram model and ours, of the same training text and on the same held-out symbols."""
    ours = figures["perplexity"]["english_heldout.txt"]["carry"]
    rows = [f"| this model, state carried | {ours['forward']:.2f} | {ours['backward']:.2f} | {ours['average']:.2f} |"]
    if "n-gram" in figures:
        other = figures["n-gram"]
        if other["symbols"] != ours["symbols"] or other["corpus"] != corpus:
            raise SystemExit(
                f"the n-gram model is of the corpus {other['corpus'][:12]}, measured on {other['symbols']:,} symbols, "
                f"ours of {corpus[:12]}, on {ours['symbols']:,}; they cannot be compared"
            )
        rows.append(f"| {other['model']} | {other['forward']:.2f} | {other['backward']:.2f} | {other['average']:.2f} |")
        rows.append(f"| difference | | | {ours['average'] / other['average'] - 1:+.0%} |")
    return rows


def make_card(figures: dict[str, Any], manifest: dict[str, Any], commands: str) -> str:
    """Markdown: the template with its figures."""
    model, trained, made = figures["model"], figures["training"], figures["made with"]
    texts = tokens_by_source(manifest)
    lstm, tokens = model["architecture"]["lstm"], model["architecture"]["tokens"]
    cosine, size = figures["cosine to fp32"], model["bytes"]
    top = list(figures["senses"].values())[lstm["layers"]]
    values = {
        "filters": sum(count for _, count in tokens["filters"]),
        "highways": tokens["highways"],
        "layers": lstm["layers"],
        "cells": lstm["cell_dim"],
        "projection": lstm["projection_dim"],
        "parameters": model["parameters"],
        "vocabulary": model["vocabulary"],
        "vector_layers": lstm["layers"] + 1,
        "vector_size": 2 * lstm["projection_dim"],
        "storage": model["storage"],
        "weights_mb": size["model.safetensors"] / 1e6,
        "package_mb": sum(size.values()) / 1e6,
        "softmax_mb": size[SOFTMAX] / 1e6,
        "softmax_storage": model["softmax storage"],
        "file_sha256": model["sha256"]["sha256"],
        "content_sha256": model["sha256"]["content_sha256"],
        "tokens": manifest["counts"]["train"]["tokens"],
        "sentences": manifest["counts"]["train"]["sentences"],
        "types": manifest["types"] - 1,
        "unknown": manifest["coverage"]["train"]["unknown_rate"],
        "sources": "\n".join(source_rows(texts)),
        "alike": share_alike(texts),
        "perplexities": "\n".join(perplexity_rows(figures)),
        "references": "\n".join(reference_rows(figures, corpus_identity(manifest))),
        "shipped": figures["perplexity as shipped"]["carry"]["average"],
        "before": figures["perplexity"]["english_heldout.txt"]["carry"]["average"],
        "cosine_tokens": cosine["tokens"],
        "cosine_mean": ", ".join(f"{c:.5f}" for c in cosine["mean"]),
        "cosine_smallest": ", ".join(f"{c:.5f}" for c in cosine["smallest"]),
        "senses": "\n".join(f"| {name} | {found['share']:.1%} |" for name, found in figures["senses"].items()),
        "weak": ", ".join(word for word, right in top["words"].items() if right < 7) or "none",
        "neighbours": "\n".join(neighbor_rows(figures["neighbours"])),
        "steps": trained["steps"],
        "trained_tokens": trained["tokens"] / 1e6,
        "epochs": trained["epochs"],
        "minutes": trained["minutes"],
        "speed": trained["tokens a second"],
        "device": made["device"],
        "date": made["date"],
        "commands": commands.strip(),
        "elmo": made["elmo"],
        "commit": made["commit"],
        "torch": made["torch"],
        "config": json.dumps(trained["config"], indent=1),
    }
    return TEMPLATE.read_text("utf-8").format_map(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--commands", type=Path)
    parser.add_argument("--ngram", type=Path)
    parser.add_argument("--word2vec", type=Path)
    parser.add_argument("--output", type=Path, default=PACKAGED)
    arguments = parser.parse_args()
    model = arguments.work / "english"
    figures = json.loads((arguments.work / "figures.json").read_text("utf-8"))
    wanted, found = figures["model"]["sha256"]["sha256"], file_sha256(model / WEIGHTS)
    if found != wanted:
        raise SystemExit(f"{model / WEIGHTS}: sha256 is {found}, but the figures are of {wanted}")
    if arguments.ngram is not None:
        figures["n-gram"] = json.loads(arguments.ngram.read_text("utf-8"))
    if arguments.word2vec is not None:
        embedder, vectors = elmo.load(model, device="cpu"), read_vectors(arguments.word2vec)
        figures |= {"senses": measure(embedder, vectors), "neighbours": table(embedder, vectors)}
    write_file(arguments.work / "figures.json", (json.dumps(figures, indent=1) + "\n").encode())
    manifest = json.loads(arguments.corpus.read_text("utf-8"))
    commands = COMMANDS if arguments.commands is None else arguments.commands.read_text("utf-8")
    card = make_card(figures, manifest, commands)
    curves = draw_curves(arguments.work)
    if curves is None:
        raise SystemExit("matplotlib is missing, so there is no picture of the curves; install the extra `plots`")
    with atomic_directory(arguments.output, overwrite=True, replaceable=is_native) as folder:
        shutil.copytree(model, folder, dirs_exist_ok=True)
        (folder / "README.md").write_text(card, encoding="utf-8")
        shutil.copy(curves, folder)
        for path in folder.iterdir():
            path.chmod(0o644)
        faults = [finding.what for finding in verify_model(folder) if not finding.ok]
        if faults:
            raise SystemExit(f"{model}: {faults[0]}")
    size = sum(path.stat().st_size for path in arguments.output.iterdir())
    print(f"{arguments.output}: {size / 1e6:.1f} MB; the card is its README.md")


if __name__ == "__main__":
    main()
