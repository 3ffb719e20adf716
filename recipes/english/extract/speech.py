"""Transcripts of speech: who speaks, what is heard beside the words, and the hour are left out.

Each function reads the files of one source. A document is a speech, a hearing or an episode.
"""

import re
from collections.abc import Iterable, Iterator

from recipes.english.extract.archive import File
from recipes.english.extract.markdown import plain, without_front_matter
from recipes.english.extract.wrapped import paragraphs

_CAPITALS = re.compile(r"^[A-Z][A-Z0-9 .,'’&/-]*(?:\([^)]*\))?:\s+|^Q:?\s{2,}|^A:\s+")
_HEARD = re.compile(r"\s*[(\[]\s*(?:[A-Z][^()\[\]]*\.|(?i:laughter|applause|inaudible|crosstalk|pause)[^()\[\]]*)[)\]]")
_BOLD_NAME = re.compile(r"^\*\*[^*]{1,80}\*\*\s*:\s*|^\*\*[^*]{1,80}:\*\*\s*")
_MARKED = re.compile(r"\\?\[[^\]]*?\\?\]")  # \[laughter\] and \[51:42\]
_MEMBER = re.compile(
    r"^(?:(?:Mr|Mrs|Ms|Miss|Dr)\. [A-Z][A-Za-z'’-]*[A-Z](?: of [A-Z][A-Za-z ]+)?"
    r"|The (?:[A-Z]{3,}|Acting )[A-Za-z ]*)\. "
)
_UNDERLINE = re.compile(r"([=\-^~\"'*+#])\1{3,}")


def white_house(files: Iterable[File]) -> Iterator[list[str]]:
    """Statements and briefings in Markdown; speakers are in capitals before a colon, `Q` asks."""
    for _, content in files:
        text = without_front_matter(content.decode("utf-8", "replace"))
        spoken = (_CAPITALS.sub("", paragraph) for paragraph in paragraphs(text))
        yield [_HEARD.sub("", plain(line)) for line in spoken]


def inquiries(files: Iterable[File]) -> Iterator[list[str]]:
    """Hearings in reStructuredText: `**Name**: what is said`, headings underlined, stage directions in italics."""
    for _, content in files:
        document = []
        lines = content.decode("utf-8", "replace").splitlines()
        for number, line in enumerate(lines):
            below = lines[number + 1] if number + 1 < len(lines) else ""
            if line.startswith((" ", "\t", "..", "*(")) or _UNDERLINE.fullmatch(line) or _UNDERLINE.fullmatch(below):
                continue  # directives and what belongs to them, hours, headings
            if line.startswith("*") and not line.startswith("**") and line.endswith("*"):
                continue
            document.append(_HEARD.sub("", _BOLD_NAME.sub("", line)).replace("*", ""))
        yield document


def congress(files: Iterable[File]) -> Iterator[list[str]]:
    """Speeches with hard line ends, after a head that two lines of dashes enclose and another one ends."""
    for _, content in files:
        body = content.decode("utf-8", "replace").split("\n---\n", 2)[-1]
        yield [_HEARD.sub("", _MEMBER.sub("", " ".join(part.split()))) for part in paragraphs(body)]


def podcasts(files: Iterable[File]) -> Iterator[list[str]]:
    """Episodes in Markdown: `**Name:** what is said`, sounds and times between escaped brackets."""
    for _, content in files:
        lines = content.decode("utf-8", "replace").splitlines()
        yield [plain(_MARKED.sub(" ", _BOLD_NAME.sub("", line))) for line in lines]
