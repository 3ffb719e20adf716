"""XML from strangers, element by element: no entities of its own, bounded depth, encodings that the parser knows."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from elmo.errors import InputError
from elmo.weights.plainfiles import MOST_DEPTH, Refusal, one_line, require_file

# What the parser says of a document, of an encoding that it does not know, of one that has several bytes a character.
UNREADABLE = (ElementTree.ParseError, expat.ExpatError, LookupError, ValueError, OSError)


def read_elements(path: Path, tag: str, *, refusal: Refusal = InputError) -> Iterator[ElementTree.Element]:
    """Each element of that name when it is complete; afterwards it is emptied."""
    require_file(path, refusal=refusal)
    depth = 0
    try:
        with open(path, "rb") as file:
            for event, element in ElementTree.iterparse(file, events=("start", "end")):
                depth += 1 if event == "start" else -1
                if depth > MOST_DEPTH:
                    raise refusal(f"{path}: is nested more than {MOST_DEPTH} deep")
                if event == "end" and element.tag == tag:
                    yield element
                    element.clear()
    except UNREADABLE as error:
        raise refusal(f"{path}: is not XML that can be read ({one_line(error)})") from None
