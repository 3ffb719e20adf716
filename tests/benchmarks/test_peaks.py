"""The work of a text is counted as the network does it."""

import torch
from benchmarks.cpu.peaks import operations
from tests.tiny import make_bilm
from torch.utils.flop_counter import FlopCounterMode

from elmo.text.chars import spell


def test_the_products_of_the_lstms_are_those_that_torch_counts() -> None:
    bilm = make_bilm().requires_grad_(False)
    sentences = [["a", "bank", "a"], ["bank", "a", "a"]]
    counter = FlopCounterMode(display=False)
    with counter:
        lengths = torch.tensor([5, 5])
        bilm(torch.zeros(2, 5, bilm.config.tokens.output_dim), lengths, bilm.zero_state(2))
    # Six further words are six further positions; the same words are encoded once.
    twice = operations(bilm.config, sentences * 2) - operations(bilm.config, sentences)
    assert twice == counter.get_total_flops()


def test_a_further_word_is_encoded_once() -> None:
    bilm = make_bilm().requires_grad_(False)
    once, again = (operations(bilm.config, [["a", "a", word]]) for word in ("a", "bank"))
    counter = FlopCounterMode(display=False)
    with counter:
        bilm.tokens(torch.from_numpy(spell(["bank"])))
    # torch may compute windows of padding that the kernels leave out; highways and the projection are the same.
    tokens = bilm.config.tokens
    columns = 4 + 2 + max(width for width, _ in tokens.filters)
    windows = sum((columns - width + 1) * width * tokens.embedding_dim * count for width, count in tokens.filters)
    rest = tokens.highways * 2 * tokens.filter_count**2 + tokens.filter_count * tokens.output_dim
    assert again - once == 2 * (windows + rest)
    assert counter.get_total_flops() >= 2 * rest
