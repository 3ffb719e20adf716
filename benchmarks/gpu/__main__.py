"""Everything that is timed on a GPU, in one run: the LSTM stack alone, whole training steps, embedding.

    python -m benchmarks.gpu [--store CORPUS] [--sentences TOKENIZED] [--parts stack,step,inference]

See `lstm_stack`, `train_step` and `inference` for what is measured and beside what. Figures in the documentation come
from `benchmarks/gpu/results`.
"""

import argparse
import tempfile
from datetime import date
from pathlib import Path

from benchmarks.gpu import inference, lstm_stack, train_step
from benchmarks.gpu.timing import machine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, help="a corpus store; made from generated text if left out")
    parser.add_argument(
        "--sentences", type=Path, help="tokens between spaces, a sentence a line; generated if left out"
    )
    parser.add_argument("--sizes", default="small,medium,original")
    parser.add_argument("--rows", default="128,512,1024,2048")
    parser.add_argument("--parts", default="stack,step,inference")
    parser.add_argument("--peers", default="allennlp,cudnn,loop")
    arguments = parser.parse_args()
    sizes, peers, parts = (text.split(",") for text in (arguments.sizes, arguments.peers, arguments.parts))
    rows = [int(number) for number in arguments.rows.split(",")]
    print(f"{date.today()}, {machine()}")
    if "stack" in parts:
        print("\n# The LSTM stack, forward and backward")
        lstm_stack.run(sizes, rows, peers=peers, profile=[])
    if "step" in parts:
        print("\n# The whole training step")
        with tempfile.TemporaryDirectory() as name:
            store = train_step.open_store(arguments.store, Path(name))
            own = [peer for peer in peers if peer in train_step.LSTM]
            train_step.run(store, sizes, rows, peers=own, profile=False)
    if "inference" in parts:
        print("\n# Embedding")
        inference.run(inference.read_sentences(arguments.sentences), sizes, rows, peers=peers, profile=False)


if __name__ == "__main__":
    main()
