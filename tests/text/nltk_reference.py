"""What NLTK itself makes of a text: the slow references for the fast tokenizer and the fast sentence splitter."""

from nltk.tokenize.destructive import NLTKWordTokenizer

from elmo.text import punkt

QUOTES = {"``", "''", '"'}

_nltk = NLTKWordTokenizer()


def treebank_tokens(text: str) -> list[str]:
    """NLTK's tokens of the whole text, all white space being a space, at the end too."""
    return _nltk.tokenize(" ".join(text.split()) + " ")


def same_but_for_quotes(ours: list[str], theirs: list[str]) -> bool:
    """Whether two token lists agree, where NLTK may have rewritten a quotation mark."""
    return len(ours) == len(theirs) and all(
        a == b or (a in QUOTES and b in QUOTES) for a, b in zip(ours, theirs, strict=True)
    )


def english_sentences(text: str) -> list[tuple[int, int]]:
    """The spans of NLTK's Punkt with our lists, and our one repair."""
    return list(punkt.join(text, punkt.nltk_punkt().span_tokenize(text)))
