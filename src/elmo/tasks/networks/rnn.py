"""`SentenceLSTM`: the biLSTM of the task models, over texts of different lengths. N texts, T tokens, H its size."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


class SentenceDropout(nn.Module):
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


class SentenceLSTM(nn.Module):
    """Both directions side by side; padding is not read. `dropout` acts between the layers."""

    def __init__(
        self, input_dim: int, hidden: int, *, layers: int = 1, dropout: float = 0.0, variational: bool = False
    ) -> None:
        super().__init__()
        # One module a layer with our own dropout between them: cuDNN's has a random state that no seed resets.
        sizes = [input_dim, *[2 * hidden] * (layers - 1)]
        self.layers = nn.ModuleList(nn.LSTM(size, hidden, batch_first=True, bidirectional=True) for size in sizes)
        self.dropout = make_dropout(dropout, variational=variational)
        self.output_dim = 2 * hidden
        for name, parameter in self.named_parameters():
            if "weight_ih" in name:
                nn.init.xavier_uniform_(parameter)
            elif "weight_hh" in name:
                nn.init.orthogonal_(parameter)
            else:
                nn.init.zeros_(parameter)
                if "bias_ih" in name:
                    nn.init.ones_(parameter.data[hidden : 2 * hidden])  # of the forget gate [Jozefowicz et al. 2015]

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """x: [N, T, D], lengths: [N] on the host, each at least 1 -> [N, T, 2H], zero past a length."""
        # Never in half precision: under bf16 autocast PyTorch runs cuDNN's LSTMs in fp16, where gradients may vanish,
        # or leaves cuDNN for a slow path. In fp32 cuDNN uses TF32. [PyTorch, aten/src/ATen/cudnn/AutocastRNN.cpp]
        with torch.autocast(x.device.type, enabled=False):
            packed = pack_padded_sequence(x.float(), lengths, batch_first=True, enforce_sorted=False)
            for n, layer in enumerate(self.layers):
                if n and isinstance(self.dropout, SentenceDropout):
                    data = self.dropout.of_tokens(packed.data, _texts_of(packed, lengths), texts=len(lengths))
                    packed = packed._replace(data=data)
                elif n:
                    packed = packed._replace(data=self.dropout(packed.data))
                packed, _ = layer(packed)
            padded: Tensor = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])[0]
        return padded


def make_dropout(p: float, *, variational: bool) -> nn.Module:
    """Dropout of single numbers, or of the same numbers in all of a text."""
    return SentenceDropout(p) if variational else nn.Dropout(p)


def _texts_of(packed: PackedSequence, lengths: Tensor) -> Tensor:
    """Which text each packed token is of: [tokens]."""
    numbers = torch.arange(len(lengths))[:, None].expand(-1, int(lengths.max()))
    index = pack_padded_sequence(numbers, lengths, batch_first=True, enforce_sorted=False).data
    return index.to(packed.data.device, non_blocking=True)


def lowest(x: Tensor) -> float:
    """A number below all others of x's type, for positions that do not count."""
    return float(torch.finfo(x.dtype).min)
