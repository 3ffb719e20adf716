"""`SentenceLSTM`: the biLSTM of the task models, over texts of different lengths. N texts, T tokens, H its size."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class SentenceLSTM(nn.Module):
    """Both directions side by side; padding is not read."""

    def __init__(self, input_dim: int, hidden: int, *, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        # One module a layer with our own dropout between them: cuDNN's has a random state that no seed resets.
        sizes = [input_dim, *[2 * hidden] * (layers - 1)]
        self.layers = nn.ModuleList(nn.LSTM(size, hidden, batch_first=True, bidirectional=True) for size in sizes)
        self.dropout = nn.Dropout(dropout)
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
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        for n, layer in enumerate(self.layers):
            if n:
                packed = packed._replace(data=self.dropout(packed.data))
            packed, _ = layer(packed)
        padded: Tensor = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])[0]
        return padded


def lowest(x: Tensor) -> float:
    """A number below all others of x's type, for positions that do not count."""
    return float(torch.finfo(x.dtype).min)
