"""Questions about words in sentences, answered from an index: what `elmo neighbors` and a server ask."""

from collections.abc import Sequence

import numpy as np

from elmo.analysis.choices import Words
from elmo.analysis.index.layout import MEAN
from elmo.analysis.index.wordindex import WordIndex
from elmo.analysis.neighbors import Answer, Question, ask_questions
from elmo.embed.choices import Layers
from elmo.embed.embedder import Embedder


def answer_from_index(
    embedder: Embedder,
    questions: Sequence[Question | tuple[str, str]],
    index: WordIndex,
    *,
    layer: int | str | None = None,
    count: int = 5,
    words: Words = "all",
    ignore_case: bool = False,
    centred: bool = False,
) -> list[Answer]:
    """For each (word, raw sentence) the word as the model reads it, and its `count` nearest uses in the index.

    As `answer_questions`, which reads text: at most one use of a sentence, a question's own sentence passed over. The
    index must be of this model. `layer`: one that the index holds; the topmost if None. `centred`: cosines as seen from
    the mean vector of the index.
    """
    index.check_model(embedder)
    if not questions:
        return []
    name = index.layer_name(layer)
    layers: Layers = "mean" if name == MEAN else int(name)
    asked = ask_questions(embedder, [Question(*question) for question in questions], layers, ignore_case=ignore_case)
    found = index.search_many(
        np.stack([vector for _, vector in asked]),
        layer=name,
        count=count,
        words=words,
        asked=[own.word for own, _ in asked],
        centred=centred,
        but_not=[own.tokens for own, _ in asked],
    )
    return [Answer(own, neighbors) for (own, _), neighbors in zip(asked, found, strict=True)]
