"""The biLSTM of the task models: padding is not read, layers are PyTorch's, dropout over a text is one mask."""

import torch
from torch import nn

from elmo.tasks.networks.encoder import Encoder, TextDropout, _texts_of

LENGTHS = torch.tensor([2, 5, 1, 4])


def test_two_layers_are_those_of_pytorch() -> None:
    torch.manual_seed(0)
    ours = Encoder(3, 4, layers=2).eval()
    theirs = nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)
    for n, layer in enumerate(ours.layers):
        for name, value in layer.named_parameters():
            getattr(theirs, name.replace("_l0", f"_l{n}")).data.copy_(value)
    x = torch.randn(1, 6, 3)
    torch.testing.assert_close(ours(x, torch.tensor([6])), theirs(x)[0])


def test_padding_changes_nothing_and_comes_out_as_zero() -> None:
    torch.manual_seed(0)
    lstm = Encoder(3, 4, layers=2).eval()
    x = torch.randn(4, 5, 3)
    together = lstm(x, LENGTHS)
    for n, length in enumerate(LENGTHS.tolist()):
        torch.testing.assert_close(together[n, :length], lstm(x[n : n + 1, :length], LENGTHS[n : n + 1])[0])
        assert not together[n, length:].any()


def test_dropout_of_a_sentence_is_one_mask_for_all_its_tokens() -> None:
    torch.manual_seed(0)
    dropped = TextDropout(0.5)(torch.ones(3, 7, 40))
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert not torch.equal(dropped[0], dropped[1])
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(TextDropout(0.5).eval()(torch.ones(3, 7, 40)), torch.ones(3, 7, 40))


def test_packed_tokens_share_the_mask_of_their_text() -> None:
    torch.manual_seed(0)
    numbers = torch.arange(4.0)[:, None, None].expand(-1, 5, 1)
    packed = nn.utils.rnn.pack_padded_sequence(numbers, LENGTHS, batch_first=True, enforce_sorted=False)
    rows = _texts_of(packed, LENGTHS)
    assert torch.equal(rows.float(), packed.data[:, 0])
    dropped = TextDropout(0.5).of_tokens(torch.ones(12, 30), rows, texts=4)
    for text in range(4):
        assert len(dropped[rows == text].unique(dim=0)) == 1
