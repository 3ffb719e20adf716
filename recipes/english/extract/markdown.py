"""Markdown as plain text: emphasis, links and marks of lists go, their words stay."""

import re

_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)|\[([^\[\]]*)\]\[[^\[\]]*\]")
_ITEM = re.compile(r"^\s*(?:#+|[-*+•>]|\d+[.)])\s+")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|`+)")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!~>|$'\"-])")
_HTML = re.compile(r"<(?:/?[a-zA-Z][^<>]*|!--.*?--)>")


def plain(line: str) -> str:
    """The words of a paragraph."""
    line = _HTML.sub(" ", _IMAGE.sub("", line))
    line = _LINK.sub(lambda link: link[1] or link[2] or "", line)
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub("", _ITEM.sub("", line)))


def without_front_matter(text: str) -> str:
    """The text after a head between two lines of three dashes."""
    if text.startswith("---\n"):
        _, end, body = text[4:].partition("\n---")
        if end:
            return body.partition("\n")[2]
    return text
