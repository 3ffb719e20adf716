"""The settled state: what a biLM remembers between sentences when nothing in particular came before.

Definition: the state that the model reaches from zero by reading empty sentences, each a begin-sentence and an
end-sentence token (the backward direction reads them the other way round), until it stops moving. It needs no text, so
every checkpoint has it, and it is what a carried state decays to. Both boundary tokens are read, as at inference:
a published model's carried state has seen the end-sentence token before the next begin-sentence token comes.
"""

import torch
from torch import Tensor

from elmo.model.bilm import BiLM
from elmo.model.bilstm import State

STILL = 1e-6  # largest change over one empty sentence that counts as settled
MOST_SENTENCES = 500  # a model that circles or drifts stops here: deterministic all the same


@torch.no_grad()
def settle(bilm: BiLM, boundaries: Tensor) -> int:
    """Compute and store the settled state from the two boundary vectors [2, D]; says how many sentences it took."""
    bilm.settled_h.zero_()
    bilm.settled_c.zero_()
    state = bilm.zero_state(1)
    x = boundaries[None]  # [1, 2, D]
    lengths = torch.tensor([2], device=x.device)
    sentences, moved = 0, float("inf")
    while moved > STILL and sentences < MOST_SENTENCES:
        _, after = bilm(x, lengths, state)
        moved = max(float((after.h - state.h).abs().max()), float((after.c - state.c).abs().max()))
        state = after
        sentences += 1
    store(bilm, state)
    return sentences


def store(bilm: BiLM, state: State) -> None:
    """Keep a one-row state as the settled one."""
    bilm.settled_h.copy_(state.h[:, :, 0])
    bilm.settled_c.copy_(state.c[:, :, 0])
