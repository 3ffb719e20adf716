"""Whether the labels of a file can be labels: text and label in each other's place are noticed before training."""

from collections.abc import Sequence

from elmo.errors import InputError

FEWEST = 10  # examples; fewer may well have a label each
SHARE = 0.9  # of the examples with a label of their own
SENTENCE = 3  # words that a label seldom has


def refuse_swapped(path: str, pairs: Sequence[tuple[str, str]]) -> None:
    """Fail where what stands as (label, text) looks like (text, label): longer, and more different ones."""
    if len(pairs) < 2:
        return
    labels, texts = zip(*pairs, strict=True)
    kinds, other = len(set(labels)), len(set(texts))
    longer = sum(map(len, labels)) > sum(map(len, texts))
    sentences = sum(len(label.split()) for label in labels) >= SENTENCE * len(labels)
    if longer and (other < kinds or (other == kinds and sentences)):
        raise InputError(
            f"{path}: {kinds} different labels such as {_short(labels[0])}, and {other} different texts such as "
            f"{_short(texts[0])}: text and label look swapped; the label comes first: `label<TAB>text` "
            "(awk -F'\\t' '{print $2\"\\t\"$1}' turns columns round)"
        )


def refuse_a_label_each(labels: Sequence[str]) -> None:
    """Fail where nearly every example to learn from has a label of its own: nothing comes back to be learned."""
    kinds = len(set(labels))
    if len(labels) >= FEWEST and kinds >= SHARE * len(labels):
        raise InputError(
            f"the training examples have {kinds} different labels for {len(labels)} texts, such as "
            f"{_short(labels[0])}; is it the right column? `label<TAB>text` with labels that come again is wanted"
        )


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
