"""All figures of the English model's card, from a finished run, in one command; a GPU makes it a matter of minutes.

    python -m recipes.english.card_figures RUN --data FOLDER --work FOLDER [--device cuda] [--word2vec vectors.npz]
        [--ngram ngram.json]

RUN is what `elmo pretrain` wrote. FOLDER of --data holds english_heldout.txt (raw) and wikitext103_valid.txt,
lm1b_heldout_dev.tokens and ptb.valid.txt (tokenized as published; those that are missing are left out). In --work come
`english` (the model in eight bits, its softmax beside the weights in four: `recipes.english.softmax_bits`),
`metrics.jsonl` and `figures.json`, from which `recipes.english.card` makes the card and the curves; nothing else of
the run is needed for that.

Perplexity is over the full vocabulary, of every word and every end of a sentence, with words outside the vocabulary as
one class. A line of WikiText is a paragraph; it is cut after the tokens . ? and !, since the model reads sentences.
"""

import argparse
import dataclasses
import datetime
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.senses.measure import measure

import elmo
from elmo.lm.perplexity import Perplexity, text_perplexity
from elmo.ops.device import choose_device
from elmo.run.metrics import FILE as METRICS
from elmo.run.metrics import read_metrics
from elmo.text.lines import read_lines
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import read_config
from elmo.weights.softmaxfile import SOFTMAX, softmax_storage
from recipes.english.mix import HELDOUT_NEW
from recipes.english.neighbors import table
from recipes.english.word2vec import read_vectors

HELDOUT = "english_heldout.txt"
STANDARD = ("wikitext103_valid.txt", "lm1b_heldout_dev.tokens", "ptb.valid.txt")
STATES = ("carry", "settled", "zero")
COSINE_TOKENS = 10_000


def sentences_of(path: Path, model: LoadedModel) -> list[list[str]]:
    """The sentences of an evaluation text."""
    lines = [line for _, line in read_lines(path)]
    if path.name in (HELDOUT, HELDOUT_NEW):
        return [words for line in lines for words in model.tokenizer.sentence_words(line) if words]
    tokens = [line.split() for line in lines if line.strip()]
    return [s for line in tokens for s in cut_paragraph(line)] if path.name.startswith("wikitext") else tokens


def cut_paragraph(tokens: list[str]) -> Iterator[list[str]]:
    """A line of tokens after each token that ends a sentence."""
    start = 0
    for n, token in enumerate(tokens):
        if token in (".", "?", "!"):
            yield tokens[start : n + 1]
            start = n + 1
    if start < len(tokens):
        yield tokens[start:]


def thin_out(sentences: list[list[str]], most: int | None) -> list[list[str]]:
    """At most so many sentences, from the beginning: neighbours stay neighbours."""
    return sentences if most is None else sentences[:most]


def facts(found: Perplexity) -> dict[str, Any]:
    """A perplexity as JSON."""
    return {**dataclasses.asdict(found), "unknown_rate": found.unknown_rate}


def cosines(whole: LoadedModel, stored: LoadedModel, sentences: list[list[str]], device: str | None) -> dict[str, Any]:
    """How far vectors from eight bits are from those of whole weights, by layer, on real tokens."""
    taken: list[list[str]] = []
    while sum(map(len, taken)) < COSINE_TOKENS and len(taken) < len(sentences):
        taken.append(sentences[len(taken)])
    both = [elmo.Embedder(m, device=device).encode(taken, layers="all") for m in (whole, stored)]
    a, b = (torch.from_numpy(np.concatenate(vectors, axis=1)) for vectors in both)  # [L, tokens, D]
    each = torch.cosine_similarity(a, b, dim=-1)  # [L, tokens]
    return {
        "tokens": each.shape[1],
        "mean": each.mean(1).tolist(),
        "smallest": each.amin(1).tolist(),
        "share of tokens from 0.999": (each >= 0.999).float().mean(1).tolist(),
    }


def training(run: Path) -> dict[str, Any]:
    """What the run says of itself: its configuration, and how long it took."""
    trained = [line for line in read_metrics(run) if line["kind"] == "train"]
    card = (run / "model" / "README.md").read_text("utf-8")
    last = trained[-1]
    return {
        "config": json.loads(card.partition("```json\n")[2].partition("```")[0]),
        "steps": last["step"],
        "tokens": last["symbols"],
        "epochs": last["epoch"],
        "minutes": last["seconds"] / 60,
        "tokens a second": last["symbols"] / max(last["seconds"], 1e-9),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--storage", choices=("int8", "float16"), default="int8")
    parser.add_argument("--softmax-storage", choices=("int8", "int4"), default="int4")
    parser.add_argument("--device")
    parser.add_argument("--word2vec", type=Path, help="vectors of recipes.english.word2vec, for the sense test")
    parser.add_argument("--ngram", type=Path, help="figures of recipes.english.ngram")
    parser.add_argument("--sentences", type=int, help="of each text, at most: for trials")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    began, device = time.perf_counter(), choose_device(arguments.device)
    figures: dict[str, Any] = {"training": training(arguments.run)}

    whole = read_model(arguments.run / "model")
    directory = arguments.work / "english"
    write_model(whole, directory, storage=arguments.storage, softmax=arguments.softmax_storage, overwrite=True)
    stored = read_model(directory)
    assert whole.vocabulary is not None
    figures["model"] = {
        "architecture": whole.config.to_dict(),
        "parameters": whole.parameter_count,
        "vocabulary": len(whole.vocabulary),
        "storage": arguments.storage,
        "bytes": {
            "model.safetensors": (directory / "model.safetensors").stat().st_size,
            "vocab.txt": (directory / "vocab.txt").stat().st_size,
            SOFTMAX: (directory / SOFTMAX).stat().st_size,
        },
        "softmax storage": softmax_storage(directory / SOFTMAX),
        "sha256": read_config(directory)["weights"],
        "sha256 of the numbers before storing": whole.sha256,
    }

    heldout = thin_out(sentences_of(arguments.data / HELDOUT, whole), arguments.sentences)
    figures["cosine to fp32"] = cosines(whole, stored, heldout, arguments.device)
    texts = {HELDOUT: heldout}
    for name in (HELDOUT_NEW, *STANDARD):
        if (arguments.data / name).is_file():
            texts[name] = thin_out(sentences_of(arguments.data / name, whole), arguments.sentences)
    figures["perplexity"] = {
        name: {
            state: facts(text_perplexity(whole, sentences, state=state, device=arguments.device)) for state in STATES
        }
        for name, sentences in texts.items()
    }
    figures["perplexity as shipped"] = {
        state: facts(text_perplexity(stored, heldout, state=state, device=arguments.device)) for state in STATES
    }
    vectors = None if arguments.word2vec is None else read_vectors(arguments.word2vec)
    embedder = elmo.Embedder(stored, device=arguments.device)
    figures["senses"] = measure(embedder, vectors)
    figures["neighbours"] = table(embedder, vectors)
    if arguments.ngram is not None:
        figures["n-gram"] = json.loads(arguments.ngram.read_text("utf-8"))
    figures["made with"] = {
        "elmo": elmo.__version__,
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type.upper(),
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
        "seconds": time.perf_counter() - began,
    }
    shutil.copy(arguments.run / METRICS, arguments.work / METRICS)
    (arguments.work / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    for name, states in figures["perplexity"].items():
        found = "  ".join(f"{state} {values['average']:.2f}" for state, values in states.items())
        print(f"{name:24s} {found}  out of vocabulary {states['carry']['unknown_rate']:.2%}")
    print("cosine to fp32, smallest by layer:", [f"{c:.5f}" for c in figures["cosine to fp32"]["smallest"]])
    print("senses:", {name: f"{found['share']:.1%}" for name, found in figures["senses"].items()})


def commit() -> str:
    """The commit of the working tree, where git knows it."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
