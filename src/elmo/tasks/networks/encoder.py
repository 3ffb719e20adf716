"""`Encoder`: the biLSTM of all task models, over texts of different lengths. N texts, T tokens, H its size."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from elmo.tasks.networks.packedlstm import packed_bilstm
from elmo.tasks.networks.padded import Padded, padded_bilstm


class TextDropout(nn.Module):
    """Dropout that drops the same numbers of every token of a text (variational: Gal and Ghahramani 2016)."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """x: [N, T, D]."""
        return x * F.dropout(x.new_ones(x.shape[0], 1, x.shape[2]), self.p, self.training)

    def of_tokens(self, x: Tensor, rows: Tensor, *, texts: int) -> Tensor:
        """x: [tokens, D], of which `rows` [tokens] says which of so many texts they are of."""
        return x * F.dropout(x.new_ones(texts, x.shape[1]), self.p, self.training)[rows]


class Encoder(nn.Module):
    """Layers of biLSTMs, both directions side by side; padding is not read. `dropout` acts between the layers.

    `highway`: from the second layer on, a gate lets what a layer was given pass by it, h = g * h' + (1 - g) * x with
    g = sigmoid(W h' + b): three layers and more learn with it. [He et al. 2018; Lee et al. 2018]
    """

    def __init__(
        self,
        input_dim: int,
        hidden: int,
        *,
        layers: int = 1,
        dropout: float = 0.0,
        variational: bool = False,
        highway: bool = False,
    ) -> None:
        super().__init__()
        # One module a layer with our own dropout between them: cuDNN's has a random state that no seed resets.
        sizes = [input_dim, *[2 * hidden] * (layers - 1)]
        self.layers = nn.ModuleList(nn.LSTM(size, hidden, batch_first=True, bidirectional=True) for size in sizes)
        self.gates = nn.ModuleList(nn.Linear(2 * hidden, 2 * hidden) for _ in range(layers - 1) if highway)
        self.dropout = choose_dropout(dropout, variational=variational)
        self.output_dim = 2 * hidden
        for name, parameter in self.named_parameters():
            if "weight_hh" in name:
                nn.init.orthogonal_(parameter)
            elif "weight" in name:
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)
                if "bias_ih" in name:
                    nn.init.ones_(parameter.data[hidden : 2 * hidden])  # of the forget gate [Jozefowicz et al. 2015]

    def forward(self, x: Tensor, lengths: Tensor | Padded) -> Tensor:
        """x: [N, T, D], lengths: [N] on the host, each at least 1 -> [N, T, 2H], zero past a length."""
        # Never in half precision: under bf16 autocast PyTorch runs cuDNN's LSTMs in fp16, where gradients may vanish,
        # or leaves cuDNN for a slow path. In fp32 cuDNN uses TF32. [PyTorch, aten/src/ATen/cudnn/AutocastRNN.cpp]
        with torch.autocast(x.device.type, enabled=False):
            x = x.to(next(self.parameters()).dtype)
            if isinstance(lengths, Padded):
                return self._read_padded(x, lengths)
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            for n, layer in enumerate(self.layers):
                if n:
                    packed = packed._replace(data=self._drop(packed, lengths))
                given = packed.data
                packed = read_layer(layer, packed)
                if n and self.gates:
                    gate = torch.sigmoid(self.gates[n - 1](packed.data))
                    packed = packed._replace(data=gate * packed.data + (1 - gate) * given)
            padded: Tensor = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])[0]
        return padded

    def _read_padded(self, x: Tensor, padded: Padded) -> Tensor:
        """The same over texts in a fixed shape; dropout then draws for padding too."""
        for n, layer in enumerate(self.layers):
            if n:
                x = self.dropout(x)
            given = x
            assert isinstance(layer, nn.LSTM)
            x = padded_bilstm(x, padded, layer)
            if n and self.gates:
                gate = torch.sigmoid(self.gates[n - 1](x))
                x = gate * x + (1 - gate) * given
        return x * padded.mask[:, :, None]

    def _drop(self, packed: PackedSequence, lengths: Tensor) -> Tensor:
        if isinstance(self.dropout, TextDropout):
            return self.dropout.of_tokens(packed.data, _texts_of(packed, lengths), texts=len(lengths))
        dropped: Tensor = self.dropout(packed.data)
        return dropped


def read_layer(layer: nn.Module, packed: PackedSequence) -> PackedSequence:
    """What a layer makes of packed texts; PyTorch's own way learns slowly on a CPU, above all from long texts."""
    assert isinstance(layer, nn.LSTM)
    if packed.data.is_cpu and torch.is_grad_enabled():
        return packed_bilstm(packed, layer)
    found: PackedSequence = layer(packed)[0]
    return found


def choose_dropout(p: float, *, variational: bool) -> nn.Module:
    """Dropout of single numbers, or of the same numbers in all of a text."""
    return TextDropout(p) if variational else nn.Dropout(p)


def _texts_of(packed: PackedSequence, lengths: Tensor) -> Tensor:
    """Which text each packed token is of: [tokens]."""
    numbers = torch.arange(len(lengths))[:, None].expand(-1, int(lengths.max()))
    index = pack_padded_sequence(numbers, lengths, batch_first=True, enforce_sorted=False).data
    return index.to(packed.data.device, non_blocking=True)
