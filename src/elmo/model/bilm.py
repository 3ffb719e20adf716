"""BiLM: a token encoder and a BiLSTM in torch, for training and GPUs; state is an argument and a result.

What a CPU embeds with is `PackedBiLM`. W distinct words, N sentences, T positions (boundaries included), L layers,
D size of one direction, R directions.
"""

import torch
from torch import Tensor, nn

from elmo.model.architecture import BiLMConfig
from elmo.model.bilstm import Stack, in_reading_order, in_text_order
from elmo.model.state import State
from elmo.ops.device import to_device


class BiLM(nn.Module):
    """The bidirectional language model without its softmax.

    Parameters are allocated, not initialized: `initialize` fills them for training, a reader of files otherwise.
    `settled_h` [L, R, P] and `settled_c` [L, R, H] hold the state between sentences; see `model.settled`.
    """

    settled_h: Tensor
    settled_c: Tensor

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.config = config
        self.tokens = config.tokens.build()
        self.lstm = config.lstm.build()
        shape = (config.lstm.layers, config.lstm.directions)
        self.register_buffer("settled_h", torch.zeros(*shape, config.lstm.output_dim))
        self.register_buffer("settled_c", torch.zeros(*shape, config.lstm.cell_dim))

    def forward(self, x: Tensor, lengths: Tensor, state: State) -> tuple[Tensor, State]:
        """Token vectors x: [N, T, D] and lengths [N] -> layers [L + 1, N, T, R * D] and the state after.

        Layer 0 is the token vector, once for each direction. Positions past a length are zero in every layer. Lengths
        on the CPU are best: those on a GPU are waited for.
        """
        return run_layers(self.lstm, x, lengths, state, directions=self.config.lstm.directions)

    def forward_padded(self, x: Tensor, lengths: Tensor, state: State) -> Tensor:
        """The layers that `forward` gives, with anything past a sentence's length. Lengths are on the device.

        No shape depends on a value, so that it can be captured in a CUDA graph.
        """
        R = self.config.lstm.directions
        outputs, _ = self.lstm(in_reading_order(x, lengths, directions=R), state)
        return _stack_layers(x, outputs, lengths, directions=R)

    def zero_state(self, rows: int) -> State:
        """The state of a model that has read nothing."""
        return self.lstm.zero_state(rows)

    def settled_state(self, rows: int) -> State:
        """The stored state between sentences, for each of `rows` sentences."""
        return State(
            self.settled_h[:, :, None].expand(-1, -1, rows, -1), self.settled_c[:, :, None].expand(-1, -1, rows, -1)
        )

    @torch.no_grad()
    def initialize(self, generator: torch.Generator) -> None:
        """Fill all parameters with the original's initial distributions."""
        self.tokens.initialize(generator)
        self.lstm.initialize(generator)
        self.settled_h.zero_()
        self.settled_c.zero_()


def run_layers(lstm: Stack, x: Tensor, lengths: Tensor, state: State, *, directions: int) -> tuple[Tensor, State]:
    """`BiLM.forward`, whatever computes the stack: rows sorted by length, reversed, and put back in order."""
    lengths = lengths.cpu()
    if (lengths[1:] > lengths[:-1]).any():
        order = torch.argsort(lengths, descending=True, stable=True)
        here, back = to_device(order, x.device), to_device(torch.argsort(order), x.device)
        layers, after = _run_descending(lstm, x[here], lengths[order], state.rows(here), directions=directions)
        return layers[:, back], after.rows(back)
    return _run_descending(lstm, x, lengths, state, directions=directions)


def _run_descending(lstm: Stack, x: Tensor, lengths: Tensor, state: State, *, directions: int) -> tuple[Tensor, State]:
    """With the sentences in order of descending length, which the LSTM wants. The lengths are on the host."""
    here = to_device(lengths, x.device)
    outputs, after = lstm(in_reading_order(x, here, directions=directions), state, lengths=lengths)
    alive = torch.arange(x.shape[1], device=x.device) < here[:, None]  # [N, T]
    return _stack_layers(x * alive[:, :, None], outputs, here, directions=directions), after


def _stack_layers(x: Tensor, outputs: list[Tensor], lengths: Tensor, *, directions: int) -> Tensor:
    """x: [N, T, D] and outputs [R, T, N, D] in reading order -> [L + 1, N, T, R * D]."""
    N, T, D = x.shape
    parts = [x] * directions
    for y in outputs:
        parts += in_text_order(y, lengths)
    return torch.stack(parts, dim=2).view(N, T, len(parts) // directions, directions * D).permute(2, 0, 1, 3)
