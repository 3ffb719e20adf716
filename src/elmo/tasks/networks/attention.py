"""Attention between the tokens of texts. N texts, T and S their tokens, D size of a vector."""

import torch
from torch import Tensor, nn

from elmo.tasks.networks.masking import masked_softmax


def attend(scores: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Averages of values [N, S, D] by scores [N, T, S] -> [N, T, D]; the mask [N, S] says which values count."""
    return masked_softmax(scores, mask[:, None], dim=2).to(values.dtype) @ values


class TrilinearSimilarity(nn.Module):
    """A score for each two tokens, `w . [x; y; x * y] + b`. [Seo et al. 2017]"""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.of_x = nn.Linear(dim, 1, bias=False)
        self.of_y = nn.Linear(dim, 1)
        self.of_both = nn.Parameter(torch.empty(dim))
        bound = (6 / (3 * dim + 1)) ** 0.5  # Xavier's, of the three parts as the one vector that they are
        for weight in (self.of_x.weight, self.of_y.weight, self.of_both):
            nn.init.uniform_(weight, -bound, bound)
        nn.init.zeros_(self.of_y.bias)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """x [N, T, D], y [N, S, D] -> [N, T, S]."""
        scores: Tensor = self.of_x(x) + self.of_y(y).transpose(1, 2) + (x * self.of_both) @ y.transpose(1, 2)
        return scores
