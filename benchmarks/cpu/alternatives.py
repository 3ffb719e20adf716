"""Other ways to the same vectors on a CPU, for `speed.py --alternatives`: plain torch, torch.compile, ONNX Runtime.

T steps, n rows alive, R directions, H cells, P outputs.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import elmo
from elmo.embed.batches import by_length
from elmo.model.bilstm import BiLSTM, LSTMLayer
from elmo.ops.steps import FORGET_BIAS
from elmo.text.chars import boundary_rows, spell
from elmo.weights.formats import read_model
from elmo.weights.onnxfile import write_onnx

MOST_POSITIONS = 4096
Embed = Callable[[list[list[str]], int], object]


def plain_torch(model: str) -> tuple[Embed, Callable[[], None]]:
    """`elmo` on a machine without a compiler."""
    os.environ["ELMO_CPU_KERNELS"] = "0"
    loaded = elmo.load(model, device="cpu")
    return lambda sentences, size: loaded.encode(sentences, layers="all", batch_size=size), loaded._cache.clear


def onnx_runtime(model: str) -> tuple[Embed, Callable[[], None]]:
    """The exported graph, sentences sorted by length; it reads characters, so every token is encoded anew."""
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        write_onnx(read_model(model), path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    begin, end = boundary_rows()

    def embed(sentences: list[list[str]], size: int) -> None:
        for batch in by_length(list(map(len, sentences)), most_sentences=size, most_positions=MOST_POSITIONS):
            lengths = np.array([len(sentences[n]) + 2 for n in batch])
            characters = np.zeros((len(batch), int(lengths.max()), len(begin)), dtype=np.int64)
            for row, n in enumerate(batch):
                characters[row, : lengths[row]] = np.concatenate([[begin], spell(sentences[n]), [end]])
            session.run(None, {"characters": characters, "lengths": lengths})

    return embed, lambda: None


def compiled_stack(model: str) -> tuple[Embed, Callable[[], None]]:
    """Our stack alone from ready token vectors, each step of a layer compiled by Inductor."""
    bilm = read_model(model).bilm.requires_grad_(False)
    assert isinstance(bilm.lstm, BiLSTM)
    config = bilm.config.lstm
    cell_clip, projection_clip = config.cell_clip or float("inf"), config.projection_clip or float("inf")

    @torch.compile(dynamic=True)
    def step(gates: Tensor, h: Tensor, c: Tensor, weight_h: Tensor, projection: Tensor) -> tuple[Tensor, Tensor]:
        i, j, f, o = torch.baddbmm(gates, h, weight_h).chunk(4, dim=-1)  # each [R, n, H]
        cell = torch.sigmoid(f + FORGET_BIAS) * c + torch.sigmoid(i) * torch.tanh(j)
        cell = cell.clamp(-cell_clip, cell_clip)
        output = torch.bmm(torch.sigmoid(o) * torch.tanh(cell), projection)  # [R, n, P]
        return output.clamp(-projection_clip, projection_clip), cell

    def embed(sentences: list[list[str]], size: int) -> None:
        lengths = [len(s) + 2 for s in sentences]
        R, P = config.directions, config.output_dim
        with torch.inference_mode():
            for batch in by_length(lengths, most_sentences=size, most_positions=MOST_POSITIONS):
                real = sorted((lengths[n] for n in batch), reverse=True)
                x = torch.zeros(R, real[0], len(batch), config.input_dim)  # [R, T, n, D]
                for number, layer in enumerate(bilm.lstm.layers):
                    assert isinstance(layer, LSTMLayer)
                    assert layer.weight_projection is not None
                    hoisted = torch.matmul(x, layer.weight_x[:, None]) + layer.bias[:, None, None]
                    h, c = torch.zeros(R, len(batch), P), torch.zeros(R, len(batch), config.cell_dim)
                    y = torch.zeros(R, real[0], len(batch), P)
                    for t in range(real[0]):
                        n = sum(length > t for length in real)
                        h, c = step(hoisted[:, t, :n], h[:, :n], c[:, :n], layer.weight_h, layer.weight_projection)
                        y[:, t, :n] = h
                    x = y + x if number else y

    return embed, lambda: None


ALTERNATIVES: dict[str, Callable[[str], tuple[Embed, Callable[[], None]]]] = {
    "plain torch": plain_torch,
    "ONNX Runtime": onnx_runtime,
    "stack, torch.compile": compiled_stack,
}
