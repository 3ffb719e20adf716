"""The tour of the packaged English model: senses by layer, neighbours in context, a made-up word, a file of vectors."""

from pathlib import Path

import h5py

from elmo.analysis.examples import read_everyday
from elmo.analysis.neighbors import Neighbor, find_neighbors
from elmo.analysis.similarity import compare_word
from elmo.embed.bulk.job import embed_file
from elmo.embed.bulk.options import BulkOptions
from elmo.embed.embedder import Embedder

# A word: a sentence, one with the same sense, one with another.
SENSES = {
    "bank": (
        "They pulled the canoe up on the bank of the river.",
        "A tree had fallen from the bank into the stream.",
        "She asked the bank for a loan to buy the house.",
    ),
    "play": (
        "The theatre opened its season with a new play.",
        "He had a small part in the play that she wrote.",
        "Heavy rain stopped play in the second half.",
    ),
    "spring": (
        "The cherry trees flower in early spring.",
        "We are going to be married next spring.",
        "Fresh water flows from a spring under the rock.",
    ),
    "right": (
        "Everybody has the right to leave the country.",
        "They fought for the right to form a union.",
        "Take the door on the right at the end of the hall.",
    ),
}
SCENES = (
    ("play", "He made a great play on a ground ball to third base."),
    ("play", "She signed to do a play in a small London theatre."),
)
MADE_UP = ("gravelbank", "The children built a raft and rowed to the gravelbank.")
# [Peters et al. 2018, Table 4]: the nearest neighbours of GloVe, and of their biLM.
TABLE_4 = """\

  Beside it, what the paper found in another text with its biLM (Table 4):
    "Chico Ruiz made a spectacular play on Alusik 's grounder {...}"
          "Kieffer , the only junior in the group , was commended for his ability to hit in the clutch , as well as his
          all-round excellent play ."
    "Olivia De Havilland signed to do a Broadway play for Garson {...}"
          "{...} they were actors who had been handed fat roles in a successful play , and had talent enough to fill the
          roles competently , with nice understatement ."
    play in GloVe, without a context:
          playing, game, games, played, players, plays, player, Play, football, multiplayer"""
OUTPUT = Path("demo-output")


def tour(embedder: Embedder) -> None:
    """Print all of it."""
    names = ["tokens", *(f"LSTM {n}" for n in range(1, embedder.layer_count))]
    print("One word, different sentences: how similar are its vectors (cosine, by layer)?\n")
    print(f"  {'':64s}" + "".join(f"{name:>8s}" for name in names))
    for word, (first, same, other) in SENSES.items():
        print(f"  {word}: {first}")
        for kind, sentence in (("same sense", same), ("another", other)):
            cosines = compare_word(embedder, (word, first), (word, sentence))
            print(f"    {kind:10s}  {sentence:50s}" + "".join(f"{c:8.2f}" for c in cosines))

    collection = read_everyday()
    print(f"\nNearest neighbours in context (top layer, all words of {len(collection)} packaged sentences):\n")
    found = find_neighbors(embedder, [*SCENES, MADE_UP], collection, count=3)
    for (word, sentence), neighbors in zip(SCENES, found[:-1], strict=True):
        show(word, sentence, neighbors)
    print(TABLE_4)

    print("\nA word that nobody has written before has vectors too, from its characters and its context:\n")
    show(*MADE_UP, found[-1])

    OUTPUT.mkdir(exist_ok=True)
    text, vectors = OUTPUT / "sentences.txt", OUTPUT / "vectors.hdf5"
    text.write_text("".join(f"{sentence}\n" for three in SENSES.values() for sentence in three), encoding="utf-8")
    done = embed_file(embedder, str(text), str(vectors), options=BulkOptions(layers="all"), overwrite=True)
    assert done is not None  # nothing is resumed
    with h5py.File(vectors) as file:
        shape = file["0"].shape
    print(f"\n{done.lines} sentences embedded into {vectors}; the first is {list(shape)}: layers, tokens, dimensions")


def show(word: str, sentence: str, neighbors: list[Neighbor]) -> None:
    """A question and its answers."""
    print(f"  {sentence.replace(word, f'[{word}]', 1)}")
    for neighbor in neighbors:
        print(f"    {neighbor.similarity:.2f}  {neighbor.marked}")
