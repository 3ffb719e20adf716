"""The paragraphs of HTML and XHTML pages, also of broken ones."""

from collections.abc import Collection
from html.parser import HTMLParser

_NO_TEXT = {"script", "style", "head", "nav", "hgroup", "header", "footer", "table", "figure", "sup", "button", "form"}


class _Paragraphs(HTMLParser):
    def __init__(self, wanted: Collection[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._wanted = wanted
        self._parts: list[str] | None = None
        self._hidden: list[str] = []  # the open elements without text, innermost last

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in _NO_TEXT or ("epub:type", "noteref") in attributes:
            self._hidden.append(tag)
        elif tag in self._wanted:
            self._end()
            self._parts = []
        elif tag == "br" and self._parts is not None:
            self._parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[len(self._hidden) - 1 - self._hidden[::-1].index(tag) :]
        elif tag in self._wanted:
            self._end()

    def handle_data(self, data: str) -> None:
        if self._parts is not None and not self._hidden:
            self._parts.append(data)

    def close(self) -> None:
        super().close()
        self._end()

    def _end(self) -> None:
        if self._parts:
            self.found.append("".join(self._parts))
        self._parts = None


def paragraphs_of(page: str, *, wanted: Collection[str] = ("p",)) -> list[str]:
    """The text of each element of the names `wanted`, without that of navigation, tables, notes and scripts."""
    parser = _Paragraphs(wanted)
    parser.feed(page)
    parser.close()
    return parser.found
