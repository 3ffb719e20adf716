"""The settled state: what a biLM remembers between sentences when nothing in particular came before.

Definition: the state that each direction reaches from zero by reading again and again the one boundary token that
stands between two sentences in training (begin-sentence for the forward direction, end-sentence for the backward one;
what closes a sentence is predicted there, never read [bilm-tf data.py, LMDataset]), until it stops moving. It needs no
text, so every checkpoint has it. Reading both boundary tokens, as inference does, leads to a state that no training has
seen; dev/log.md has the figures.
"""

import torch
from torch import Tensor

from elmo.model.bilm import BiLM
from elmo.model.bilstm import State

STILL = 1e-6  # largest change over one token that counts as settled
# A model that circles or drifts stops here, deterministic all the same. A trained one may have cells that count on for
# thousands of tokens without an effect on its outputs, and every token reads all weights of the stack.
MOST_TOKENS = 100


@torch.no_grad()
def settle(bilm: BiLM, boundaries: Tensor) -> int:
    """Compute and store the settled state from the two boundary vectors [2, D]; says how many tokens it took."""
    bilm.settled_h.zero_()
    bilm.settled_c.zero_()
    if not bilm.config.lstm.carries_state:
        return 0
    state = bilm.zero_state(1)
    x = boundaries[: bilm.config.lstm.directions, None, None]  # [R, 1, 1, D]
    tokens, moved = 0, float("inf")
    while moved > STILL and tokens < MOST_TOKENS:
        _, after = bilm.lstm(x, state)
        moved = max(float((after.h - state.h).abs().max()), float((after.c - state.c).abs().max()))
        state = after
        tokens += 1
    store(bilm, state)
    return tokens


def store(bilm: BiLM, state: State) -> None:
    """Keep a one-row state as the settled one."""
    bilm.settled_h.copy_(state.h[:, :, 0])
    bilm.settled_c.copy_(state.c[:, :, 0])
