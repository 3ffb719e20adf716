"""One spelling for what has many: entities, white space, apostrophes and quotation marks that programs have mangled.

Curly quotation marks and apostrophes stay what they are, because the tokenizer knows them. What it does not know
becomes what it knows: `´`, the control characters that Windows uses for quotation marks, doubled apostrophes.
"""

import html
import re
import unicodedata

# The bytes 0x80-0x9F of Windows-1252, read as if they were Latin-1: dashes, quotation marks and an ellipsis.
_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
_NOTHING = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))  # soft hyphens and marks without a width
_APOSTROPHES = {ord("´"): "'", ord("`"): "'", ord("′"): "'", ord("＇"): "'"}
_CHARACTERS = str.maketrans(_WINDOWS | _NOTHING | _APOSTROPHES)
_QUOTES = re.compile(r"''")
_SPACES = re.compile(r"\s+")


def tidy(text: str) -> str:
    """The text in one line, composed (NFC), its entities resolved."""
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    text = text.translate(_CHARACTERS)
    return _SPACES.sub(" ", _QUOTES.sub('"', text)).strip()
