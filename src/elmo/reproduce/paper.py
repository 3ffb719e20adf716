"""The figures that Peters et al. (NAACL 2018) print; what is made again stands beside them."""

from elmo.reproduce.settings import Row

TITLE = 'Peters et al. (2018), "Deep contextualized word representations"'
NAMES: dict[Row, str] = {
    "squad": "SQuAD, F1",
    "snli": "SNLI, accuracy",
    "srl": "OntoNotes semantic roles, F1",
    "coref": "OntoNotes coreference, mean F1",
    "ner": "CoNLL-2003 names, F1",
    "sst-5": "SST-5, accuracy",
}
# Test scores: the authors' baseline, and with ELMo.
TABLE1: dict[Row, tuple[float, float]] = {
    "squad": (81.1, 85.8),
    "snli": (88.0, 88.7),
    "srl": (81.4, 84.6),
    "coref": (67.2, 70.4),
    "ner": (90.15, 92.22),
    "sst-5": (51.4, 54.7),
}
# Dev scores: baseline, top layer only, all layers with lambda 1, with lambda 0.001.
TABLE2: dict[Row, tuple[float, float, float, float]] = {
    "squad": (80.8, 84.7, 85.0, 85.2),
    "snli": (88.1, 89.1, 89.3, 89.5),
    "srl": (81.6, 84.1, 84.6, 84.8),
}
# Dev scores: ELMo at the input, at input and output, at the output.
TABLE3: dict[Row, tuple[float, float, float]] = {
    "squad": (85.1, 85.6, 84.8),
    "snli": (88.9, 89.5, 88.7),
    "srl": (84.7, 84.3, 80.9),
}
# The nearest neighbours of "play" by GloVe.
TABLE4 = ("playing", "game", "games", "played", "players", "plays", "player", "Play", "football", "multiplayer")
# F1 of word senses, four test sets together: the first sense, the two layers of the biLM.
TABLE5 = (65.9, 67.4, 69.0)
# Accuracy of the Penn tags, the two layers of the biLM.
TABLE6 = (97.3, 96.8)
# Perplexity of the biLM on a task's text before and after one epoch of fine-tuning on it.
TABLE7: dict[Row, tuple[float, float]] = {
    "snli": (72.1, 16.8),
    "squad": (99.1, 43.5),
    "ner": (103.2, 46.3),
    "sst-5": (131.5, 78.6),
}


def error_reduction(before: float, after: float) -> float:
    """How much of the error a gain takes away, in per cent."""
    return 100 * (after - before) / (100 - before)
