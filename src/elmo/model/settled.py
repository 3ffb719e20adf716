"""The settled state: what a biLM remembers between sentences when nothing in particular came before.

Definition: the state that each direction reaches from zero by reading again and again the one boundary token that
stands between two sentences in training (begin-sentence for the forward direction, end-sentence for the backward one;
what closes a sentence is predicted there, never read [bilm-tf data.py, LMDataset]), until it stops moving. It needs no
text, so every checkpoint has it. Reading both boundary tokens, as inference does, leads to a state that no training has
seen; dev/log.md has the figures.
"""

from typing import TYPE_CHECKING, Any

from elmo.model.kinds import Rows
from elmo.model.packed import PackedBiLM
from elmo.model.state import State
from elmo.ops.arrays import Array

if TYPE_CHECKING:
    from torch import Tensor

    from elmo.model.bilm import BiLM

STILL = 1e-6  # largest change over one token that counts as settled
# A model that circles or drifts stops here, deterministic all the same. A trained one may have cells that count on for
# thousands of tokens without an effect on its outputs, and every token reads all weights of the stack.
MOST_TOKENS = 100


def find_settled(bilm: "BiLM | PackedBiLM", boundaries: Array) -> tuple[State, int]:
    """The settled state of one row from the two boundary vectors [2, D], and how many tokens it took."""
    state = bilm.zero_state(1)
    if not bilm.config.lstm.carries_state:
        return state, 0
    x = boundaries[: bilm.config.lstm.directions, None, None]  # [R, 1, 1, D]
    lstm: Any = bilm.lstm
    tokens, moved = 0, float("inf")
    while moved > STILL and tokens < MOST_TOKENS:
        _, after = lstm(x, state)
        moved = max(float(abs(after.h - state.h).max()), float(abs(after.c - state.c).max()))
        state = after
        tokens += 1
    return state, tokens


def settle(bilm: "BiLM", boundaries: "Tensor") -> int:
    """Compute and store the settled state of torch's biLM; says how many tokens it took."""
    import torch

    with torch.no_grad():
        state, tokens = find_settled(bilm, boundaries)
    store(bilm, state)
    return tokens


def settle_there(bilm: "BiLM", boundary_rows: Rows) -> int:
    """The same on a GPU, from the rows of the boundary tokens."""
    import torch

    with torch.no_grad():
        return settle(bilm, bilm.tokens(torch.from_numpy(boundary_rows).to(bilm.settled_h.device)))


def store(bilm: "BiLM", state: State) -> None:
    """Keep a one-row state as the settled one."""
    import torch

    with torch.no_grad():
        bilm.settled_h.copy_(state.h[:, :, 0])
        bilm.settled_c.copy_(state.c[:, :, 0])
