"""XML from strangers, element by element: no entities of its own, bounded depth, encodings that the parser knows."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from elmo.disk.guarded.plainfiles import MOST_DEPTH, Refusal, one_line, require_file
from elmo.errors import InputError

# What the parser says of an encoding that it does not know, of one that has several bytes a character.
UNREADABLE = (expat.ExpatError, LookupError, ValueError, OSError)


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
    except ElementTree.ParseError as error:
        line, column = error.position
        fault = f"{expat.ErrorString(error.code)} at column {column + 1}"
        raise refusal(f"{path}: line {line} is not XML that can be read ({fault})") from None
    except UNREADABLE as error:
        raise refusal(f"{path}: is not XML that can be read ({one_line(error)})") from None
