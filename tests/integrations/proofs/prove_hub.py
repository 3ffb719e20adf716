"""A model of the Hub, in a process of its own: FOLDER of the model that the Hub has, OUTPUT, NAME on the Hub."""

import multiprocessing
import pickle
import sys
from pathlib import Path

import torch
from same import assert_same
from texts import SENTENCES, TEXTS

import elmo
from elmo.apps.cli import main as command


def layers_of(name: str) -> list:
    return elmo.load(name).encode(TEXTS, layers="all")


def main(folder: str, output: Path, name: str) -> None:
    expected = layers_of(folder)
    with multiprocessing.get_context("spawn").Pool(2) as pool:  # both fetch it, into one cache
        for found in pool.map(layers_of, [name, name], chunksize=1):
            assert_same(found, expected)
        pool.close()  # they end by themselves: killed, a process can leave a lock of its progress bar half taken down
        pool.join()
    embedder = elmo.load(name)
    assert_same(embedder.encode(TEXTS, layers="all"), expected)
    assert_same(pickle.loads(pickle.dumps(embedder)).encode(TEXTS, layers="all"), expected)
    embedder.save_pretrained(output / "saved")
    assert_same(layers_of(str(output / "saved")), expected)
    assert command(["push", str(output / "saved"), "me/again"]) == 0
    assert_same(layers_of("hf:me/again"), expected)
    train(name, output)


def train(name: str, output: Path) -> None:
    """One epoch of a linear layer over a learned mix; the mix is saved and read again."""
    torch.manual_seed(1)
    module = elmo.Elmo.from_pretrained(name, dropout=0.0)
    head = torch.nn.Linear(module.dim, 2)
    parameters = [p for p in (*module.parameters(), *head.parameters()) if p.requires_grad]
    optimizer = torch.optim.Adam(parameters, lr=0.05)

    def loss(sentence: list[str]) -> torch.Tensor:
        (vectors,), _ = module([sentence])
        return torch.nn.functional.cross_entropy(head(vectors[0]), torch.tensor([len(word) % 2 for word in sentence]))

    before = sum(loss(sentence).item() for sentence in SENTENCES)
    for sentence in SENTENCES:
        optimizer.zero_grad()
        loss(sentence).backward()
        optimizer.step()
    assert sum(loss(sentence).item() for sentence in SENTENCES) < before
    module.save_pretrained(output / "mix")
    again = elmo.Elmo.from_pretrained(output / "mix", dropout=0.0)
    assert_same(again(SENTENCES)[0][0].detach(), module(SENTENCES)[0][0].detach())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
