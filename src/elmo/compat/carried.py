"""The state between calls, as bilm-tf and AllenNLP keep it: the one thing here that remembers."""

import torch
from torch import Tensor

from elmo.errors import InputError
from elmo.model.bilm import BiLM
from elmo.model.state import State


class CarriedState:
    """The state of each batch row from call to call. A row is known by its place in the batch, nothing else.

    A row used for the first time starts from zero; a smaller batch leaves the rows beyond it as they were. The names
    `stateful`, `reset_states` and `_states` are AllenNLP's, because scripts reach for them.
    """

    def __init__(self) -> None:
        self.stateful = True
        self._states: State | None = None

    def start(self, bilm: BiLM, rows: int) -> State:
        """The state that a batch of `rows` starts from."""
        state = bilm.zero_state(rows)
        if self.stateful and self._states is not None:
            have = min(rows, self._states.h.shape[2])
            for new, kept in zip(state, self._states, strict=True):
                new[:, :, :have] = kept[:, :, :have]
        return state

    def keep(self, after: State) -> None:
        """Remember where a batch ended; no gradient goes back through it."""
        h, c = after.h.detach(), after.c.detach()
        if self._states is not None:
            beyond = slice(h.shape[2], None)
            h = torch.cat([h, self._states.h[:, :, beyond].to(h)], dim=2)
            c = torch.cat([c, self._states.c[:, :, beyond].to(c)], dim=2)
        self._states = State(h, c)

    def reset_states(self, mask: Tensor | None = None) -> None:
        """Forget all rows, or those where `mask` [B] is true."""
        if mask is None or self._states is None:
            self._states = None
            return
        rows = self._states.h.shape[2]
        if mask.shape != (rows,):
            raise InputError(f"the mask of rows to reset has shape {list(mask.shape)}; {[rows]} is wanted")
        kept = ~mask.bool()[:, None].to(self._states.h.device)
        self._states = State(self._states.h * kept, self._states.c * kept)
