"""The speed of each integration beside `encode` on the same texts, in one run.

    python -m benchmarks.integrations.speed --text sentences.txt --rounds 5

Every way embeds the same raw texts once for warming up, then in turn with the others, `--rounds` times. Each is
compared with `encode` of the same texts and the same result (vectors of tokens, or one vector a text) in the same
round; printed is the median of the ratios of their processor times, and of their times by the wall. 1.00 is as fast,
1.20 takes a fifth longer. Libraries that are not installed are left out with a word. Without `--text` the packaged
sentences are used. Needs a quiet machine for times by the wall.
"""

import argparse
import importlib
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

import elmo
from elmo.analysis.examples import read_collection
from elmo.weights import read_model
from elmo.weights.transformersfolder import write_transformers

Embed = Callable[[list[str]], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="english")
    parser.add_argument("--text", help="sentences, one a line")
    parser.add_argument("--lines", type=int, default=1000, help="texts of a round; repeated if there are fewer")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    texts = read_texts(arguments.text, arguments.lines)
    embedder = elmo.load(arguments.model, device="cpu")
    of_tokens = lambda texts: embedder.encode(texts, batch_size=arguments.batch_size)  # noqa: E731
    of_texts = lambda texts: embedder.encode(texts, batch_size=arguments.batch_size, pooling="mean")  # noqa: E731
    with tempfile.TemporaryDirectory() as folder:
        ways = dict(find_ways(arguments.model, Path(folder) / "model", arguments.batch_size))
        for embed in (of_tokens, of_texts, *(embed for embed, _ in ways.values())):
            embed(texts)
        for name, (embed, pooled) in ways.items():
            ratios = [compare(embed, of_texts if pooled else of_tokens, texts) for _ in range(arguments.rounds)]
            cpu, wall = (statistics.median(ratio[k] for ratio in ratios) for k in (0, 1))
            print(
                f"{name:40} processor {cpu:5.2f}   wall {wall:5.2f}   ({arguments.rounds} rounds, {len(texts)} texts)"
            )


def read_texts(path: str | None, lines: int) -> list[str]:
    if path is None:
        texts = read_collection()
    else:
        texts = [line for line in Path(path).read_text("utf-8").splitlines() if line.strip()]
    return (texts * (1 + lines // len(texts)))[:lines]


def find_ways(model: str, folder: Path, batch_size: int) -> list[tuple[str, tuple[Embed, bool]]]:
    """Name, function, and whether it gives one vector a text."""
    ways: list[tuple[str, tuple[Embed, bool]]] = []
    if has("elmo.integrations.sklearn"):
        from elmo.integrations.sklearn import ElmoVectorizer

        vectorizer = ElmoVectorizer(model, device="cpu", batch_size=batch_size)
        ways.append(("scikit-learn ElmoVectorizer", (vectorizer.transform, True)))
    if has("elmo.integrations.transformers"):
        import elmo.integrations.transformers as integration

        write_transformers(read_model(model), folder)
        network = integration.ElmoModel.from_pretrained(folder).eval()
        tokenizer = integration.ElmoTokenizer.from_pretrained(folder)

        def batches(texts: list[str]) -> None:
            ordered = sorted(texts, key=len)
            with torch.inference_mode():
                for n in range(0, len(ordered), batch_size):
                    network(**tokenizer(ordered[n : n + batch_size], padding=True, return_tensors="pt"))

        ways.append(("transformers ElmoModel", (batches, False)))
    if folder.exists() and has("sentence_transformers"):
        from sentence_transformers import SentenceTransformer

        sentences = SentenceTransformer(str(folder), device="cpu")
        embed = lambda texts: sentences.encode(texts, batch_size=batch_size)  # noqa: E731
        ways.append(("sentence-transformers", (embed, True)))
    if has("elmo.integrations.spacy"):
        import spacy

        nlp = spacy.blank("en")
        nlp.add_pipe("elmo", config={"model": model, "device": "cpu"})
        ways.append(("spaCy component", (lambda texts: list(nlp.pipe(texts, batch_size=10 * batch_size)), False)))
    if has("elmo.integrations.flair"):
        from flair.data import Sentence

        from elmo.integrations.flair import ELMoEmbeddings

        embeddings = ELMoEmbeddings(model, embedding_mode="average")
        ways.append(("Flair ELMoEmbeddings", (lambda texts: embeddings.embed([Sentence(t) for t in texts]), False)))
    return ways


def has(library: str) -> bool:
    try:
        importlib.import_module(library)
    except ImportError as error:
        print(f"left out: {error}")
        return False
    return True


def compare(embed: Embed, plain: Embed, texts: list[str]) -> tuple[float, float]:
    """The processor time and the time by the wall of one, as a share of the other's."""
    (cpu, wall), (plain_cpu, plain_wall) = timed(embed, texts), timed(plain, texts)
    return cpu / plain_cpu, wall / plain_wall


def timed(embed: Embed, texts: list[str]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    embed(texts)
    return time.process_time() - cpu, time.perf_counter() - wall


if __name__ == "__main__":
    main()
