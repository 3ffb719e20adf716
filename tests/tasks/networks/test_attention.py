"""Attention between texts against plain loops; what a mask leaves out has no part in it."""

import torch

from elmo.tasks.networks.attention import TrilinearSimilarity, attend
from elmo.tasks.networks.masking import masked_max, masked_mean, masked_softmax

MASK = torch.tensor([[True, True, False], [True, True, True]])


def test_a_softmax_leaves_out_what_does_not_count() -> None:
    torch.manual_seed(0)
    scores = torch.randn(2, 3)
    found = masked_softmax(scores, MASK, dim=1)
    torch.testing.assert_close(found[0], torch.cat([torch.softmax(scores[0, :2], 0), torch.zeros(1)]))
    torch.testing.assert_close(found[1], torch.softmax(scores[1], 0))
    assert masked_softmax(scores.half(), MASK, dim=1).dtype == torch.float16
    nothing = masked_softmax(scores, torch.zeros(2, 3, dtype=torch.bool), dim=1)
    assert torch.isfinite(nothing).all()


def test_attention_is_the_average_that_the_scores_say() -> None:
    torch.manual_seed(0)
    scores, values = torch.randn(2, 4, 3), torch.randn(2, 3, 5)
    found = attend(scores, values, MASK)
    for n in range(2):
        for t in range(4):
            shares = torch.softmax(scores[n, t, MASK[n]], 0)
            torch.testing.assert_close(found[n, t], (shares[:, None] * values[n, MASK[n]]).sum(0))


def test_the_trilinear_score_is_one_product_of_x_y_and_both() -> None:
    torch.manual_seed(0)
    similarity = TrilinearSimilarity(5)
    x, y = torch.randn(2, 4, 5), torch.randn(2, 3, 5)
    weights = torch.cat([similarity.of_x.weight[0], similarity.of_y.weight[0], similarity.of_both])
    found = similarity(x, y)
    for n, t, s in [(0, 0, 0), (1, 3, 2), (1, 0, 1)]:
        joined = torch.cat([x[n, t], y[n, s], x[n, t] * y[n, s]])
        torch.testing.assert_close(found[n, t, s], joined @ weights + similarity.of_y.bias[0])


def test_pooling_leaves_out_what_does_not_count() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4)
    x[0, 2] = 1e4
    torch.testing.assert_close(masked_mean(x, MASK), torch.stack([x[0, :2].mean(0), x[1].mean(0)]))
    torch.testing.assert_close(masked_max(x, MASK), torch.stack([x[0, :2].amax(0), x[1].amax(0)]))
