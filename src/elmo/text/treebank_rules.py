"""The Penn Treebank's rules for one chunk, as NLTK's `NLTKWordTokenizer` has them: substitutions in their order.

Written anew, so that tokens, and with them vectors, do not change with NLTK's version, and that nobody waits half a
second for it. Tests hold the result equal to NLTK's. [nltk destructive.py]
"""

import re

_PAD = r" \g<0> "
_APART = r"\1 \2 "

# Each with the characters around it as it finds them, so that the order counts.
_MARKS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"[«“‘„]|`+"), _PAD),
    (re.compile("``"), _PAD),
    (re.compile(r"([ (\[{<])(?:\"|'')"), r"\1 `` "),  # opens, behind a space or a bracket
    (re.compile(r"(?i)(?<!\w)'(?!(?:re|ve|ll|[mtsdn])\b)(?=\w)"), "' "),
    (re.compile(r"([^.])\.([\])}>\"' »”’]*+)\Z"), r"\1 . \2 "),  # the final period
    (re.compile(r"([:,])(\D)"), r" \1 \2"),
    (re.compile(r"\.{2,}"), _PAD),
    (re.compile(r"[;@#$%&\u2012-\u2015]"), _PAD),
    (re.compile(r"[?!]"), _PAD),
    (re.compile(r"([^'])' "), r"\1 ' "),
    (re.compile(r"[*\[\](){}<>]"), _PAD),
    (re.compile(r"--"), _PAD),
]
_ENDINGS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"[»”’]|''"), _PAD),
    (re.compile(r'"'), " '' "),
    (re.compile(r"\s+"), " "),
    (re.compile(r"([^' ])('[sSmMdD]?) "), _APART),
    (re.compile(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), _APART),
    (re.compile(r"(?i)\b(can)(not)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(d)('ye)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(gim|lem)(me)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(gon)(na)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(got)(ta)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(more)('n)\b"), r" \1 \2 "),
    (re.compile(r"(?i)\b(wan)(na)(?=\s)"), r" \1 \2 "),
    (re.compile(r"(?i) ('t)(is)\b"), r" \1 \2 "),
    (re.compile(r"(?i) ('t)(was)\b"), r" \1 \2 "),
]


def cut_by_rules(text: str) -> list[str]:
    """The tokens of a text that begins with a word and ends with a word or a space; quotes become `` and ''."""
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    text = f" {text} "
    for pattern, replacement in _ENDINGS:
        text = pattern.sub(replacement, text)
    return text.split()
