"""`WordEmbedding`: ids of a `WordList` to vectors, of which some learn and the rest is fixed."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from elmo.tasks.embedding.wordlist import WordList
from elmo.tasks.embedding.wordvectors import WordVectors


class WordEmbedding(nn.Module):
    """`weight` [1 + known, D] for the unknown and the known words; `rest` [rest, D], not part of the state dict."""

    rest: Tensor

    def __init__(self, *, known: int, rest: int, dim: int, train: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(1 + known, dim), requires_grad=train)
        self.register_buffer("rest", torch.zeros(rest, dim), persistent=False)
        nn.init.normal_(self.weight, std=0.1)

    @torch.no_grad()
    def fill(self, word_list: WordList, vectors: WordVectors) -> None:
        """Take the vectors of the words that a file has; the others stay as drawn, at the file's scale."""
        place = {word: n for n, word in enumerate(vectors.words)}
        numbers = torch.from_numpy(vectors.vectors)
        self.weight.mul_(float(numbers.std()) / 0.1)
        rows = [(n, place[word]) for n, word in enumerate(word_list.known, start=1) if word in place]
        if rows:
            to, source = torch.tensor(rows).T
            self.weight[to] = numbers[source]
        if word_list.rest:
            self.rest.copy_(numbers[torch.tensor([place[word] for word in word_list.rest])])

    def forward(self, ids: Tensor) -> Tensor:
        """ids: any shape -> [.., D]."""
        first = len(self.weight)
        vectors = F.embedding(ids.clamp(max=first - 1), self.weight)
        if not len(self.rest):
            return vectors
        fixed = F.embedding((ids - first).clamp(min=0), self.rest)
        return torch.where((ids < first)[..., None], vectors, fixed)
