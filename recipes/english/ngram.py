"""An interpolated 5-gram model with modified Kneser-Ney smoothing (KenLM) on a corpus store: held-out perplexity.

    python -m recipes.english.ngram STORE --programs KENLM/build/bin --work FOLDER

The same split, vocabulary and symbols as `elmo perplexity STORE`: every word and every end of a sentence is predicted
once in each direction, and a word outside the vocabulary is one class. No n-gram is pruned.

KenLM's package on PyPI (`pip install kenlm`) asks a model but cannot estimate one; `lmplz` and `build_binary` come from
the same source (https://github.com/kpu/kenlm: cmake, a C++ compiler and Boost). KenLM keeps a class for unseen words
besides ours, of about a millionth of the probability.
"""

import argparse
import json
import math
import subprocess
import time
from pathlib import Path

from elmo.corpus.store import CorpusStore
from elmo.pretrain.progress import corpus_identity
from recipes.english.idtext import folder_for, id_lines, write_ids


def estimate(text: Path, model: Path, *, programs: Path, order: int, memory: str, small: bool) -> None:
    """Estimate a model and store it as KenLM's trie, without quantization; one that is there is kept."""
    if model.exists():
        return
    arpa = model.with_suffix(".arpa")
    folder = str(model.parent)
    command = [str(programs / "lmplz"), "-o", str(order), "-S", memory, "-T", folder, "--text", str(text)]
    # A small text lacks the counts from which discounts are estimated.
    command += ["--arpa", str(arpa), *(["--discount_fallback"] if small else [])]
    subprocess.run(command, check=True)
    temporary = model.with_suffix(".part")
    subprocess.run(
        [str(programs / "build_binary"), "-S", memory, "-T", folder, "trie", str(arpa), str(temporary)], check=True
    )
    temporary.replace(model)
    arpa.unlink()


def heldout_loss(store: CorpusStore, model: Path, *, backward: bool) -> float:
    """Mean negative log-probability (nats) of the held-out symbols."""
    import kenlm

    asked = kenlm.Model(str(model))
    total = sum(asked.score(line, bos=True, eos=True) for line in id_lines(store, "heldout", backward=backward))
    return -total * math.log(10) / len(store.heldout_symbols)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--programs", type=Path, required=True, help="the folder of lmplz and build_binary")
    parser.add_argument("--work", type=Path, required=True, help="a folder for texts and models (about 25 GB)")
    parser.add_argument("--order", type=int, default=5)
    parser.add_argument("--memory", default="5G")
    parser.add_argument("--small", action="store_true", help="fall back to fixed discounts, for a small text")
    parser.add_argument("--output", type=Path, help="write the figures here, as JSON")
    arguments = parser.parse_args()
    store = CorpusStore.open(arguments.store)
    folder = folder_for(store, arguments.work)
    losses, began = [], time.perf_counter()
    for backward in (False, True):
        name = "backward" if backward else "forward"
        text, model = folder / f"{name}.txt", folder / f"{name}.{arguments.order}.trie"
        write_ids(store, "train", text, backward=backward)
        estimate(
            text,
            model,
            programs=arguments.programs,
            order=arguments.order,
            memory=arguments.memory,
            small=arguments.small,
        )
        losses.append(heldout_loss(store, model, backward=backward))
        print(f"{name}: perplexity {math.exp(losses[-1]):.2f}", flush=True)
    figures = {
        "model": f"interpolated {arguments.order}-gram, modified Kneser-Ney, KenLM",
        "forward": math.exp(losses[0]),
        "backward": math.exp(losses[1]),
        "average": math.exp(sum(losses) / 2),
        "corpus": corpus_identity(store.manifest),
        "symbols": len(store.heldout_symbols),
        "vocabulary": len(store.vocabulary),
        "minutes": (time.perf_counter() - began) / 60,
    }
    print(json.dumps(figures, indent=1))
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
