"""What NLTK itself makes of a text: the slow references for the fast tokenizer and the fast sentence splitter."""

from functools import cache

from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from elmo.text import punkt
from elmo.text.abbreviations import ENGLISH, ENGLISH_BEFORE_NUMBERS, ENGLISH_STARTERS
from elmo.text.punkt_rules import NUMBER, is_abbreviation

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
    return list(punkt.join(text, nltk_punkt().span_tokenize(text)))


class _Abbreviations(frozenset[str]):
    """The listed ones and all dotted letters."""

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and is_abbreviation(word)


@cache
def nltk_punkt() -> PunktSentenceTokenizer:
    """NLTK's PunktSentenceTokenizer with our lists."""
    parameters = PunktParameters()
    parameters.abbrev_types = _Abbreviations(ENGLISH)
    parameters.collocations = {(word, NUMBER) for word in ENGLISH_BEFORE_NUMBERS}
    seen_in_lower_case = 1 << 5  # [nltk punkt.py, _ORTHO_MID_LC]
    for word in ENGLISH_STARTERS:
        parameters.add_ortho_context(word, seen_in_lower_case)
    return PunktSentenceTokenizer(parameters)
