"""The schemas of /similar, /neighbors and /search: which fields go together, and what comes back."""

from elmo.apps.server.fields import LARGEST
from elmo.apps.server.operations import Schema, object_of
from elmo.apps.server.schemas import INTEGER, NUMBER, STRING, answer_of, flag, layers, list_of

MOST_FOUND = 1000
LONGEST_SENTENCE = 4096  # tokens; all its layers are looked at in one go
WORDS = ("all", "same", "other")

NULL: Schema = {"type": "null"}
NULL_OR_STRING: Schema = {"type": ["string", "null"]}
SENTENCE: Schema = {"type": "string", "description": "A raw sentence with the word; without it, 422."}
COUNT: Schema = {"type": ["integer", "null"], "minimum": 1, "maximum": MOST_FOUND, "default": 5}
CHOICE: Schema = {"enum": [*WORDS, None], "default": "all", "description": "Uses of all words, the same, or others."}
CENTRED = flag("Cosines as seen from the mean of the index.", default=False)
USE: dict[str, Schema] = {"word": STRING, "place": INTEGER, "tokens": list_of(STRING)}
NEIGHBOR = answer_of(
    {
        "similarity": NUMBER,
        **USE,
        "file": NULL_OR_STRING,
        "line": {"description": "From 1.", "type": ["integer", "null"]},
    }
)
LAYERS_FOUND = answer_of(
    {"model": STRING, "layers": list_of(answer_of({"layer": INTEGER, "name": STRING, "similarity": NUMBER}))}
)
NEIGHBORS_FOUND = answer_of(
    {"model": STRING, "asked": {"anyOf": [answer_of(USE), NULL]}, "neighbors": list_of(NEIGHBOR)}
)
USES_FOUND = answer_of({"model": STRING, "uses": {"type": ["integer", "null"]}, "neighbors": list_of(NEIGHBOR)})


def similar_body() -> Schema:
    """Of /similar."""
    other = {**NULL_OR_STRING, "description": "The second sentence's word, if another."}
    properties = {"word": STRING, "first": SENTENCE, "second": SENTENCE, "with": other}
    return object_of(properties, required=("word", "first", "second"))


def neighbors_body(layer_count: int, *, over_index: bool) -> Schema:
    """Of /neighbors: with texts to look in, and where there is an index also without."""
    asked = {
        "word": STRING,
        "sentence": SENTENCE,
        "occurrence": {"type": ["integer", "null"], "minimum": 1, "maximum": LONGEST_SENTENCE},
        "ignore_case": flag("Bank in the sentence is the word bank.", default=False),
        "count": COUNT,
        "words": CHOICE,
        "layer": layers(layer_count, all_too=False, default="top"),
    }
    texts = {
        "description": "Where to look: texts, or sentences as lists of tokens.",
        "anyOf": [STRING, list_of(STRING, least=1), list_of(list_of(STRING), least=1)],
    }
    in_texts = object_of({**asked, "texts": texts}, required=("word", "sentence", "texts"))
    if not over_index:
        return in_texts
    in_index = object_of({**asked, "texts": NULL, "centred": CENTRED}, required=("word", "sentence"))
    return {"anyOf": [in_index, in_texts]}


def search_body(layer_count: int, dim: int) -> Schema:
    """Of /search: by a vector, among all words or with a word among some; or by a word alone."""
    number = {"type": "number", "exclusiveMinimum": -LARGEST, "exclusiveMaximum": LARGEST}
    by_vector = {
        "vector": {"type": "array", "items": number, "minItems": dim, "maxItems": dim},
        "count": COUNT,
        "layer": layers(layer_count, all_too=False, default="top"),
        "centred": CENTRED,
    }
    among_all = {**by_vector, "words": {"enum": ["all", None], "default": "all"}, "word": NULL_OR_STRING}
    among_some = {**by_vector, "words": {"enum": [one for one in WORDS if one != "all"]}, "word": STRING}
    by_word = {
        "vector": NULL,
        "word": STRING,
        "count": COUNT,
        "first": {"type": ["integer", "null"], "minimum": 0, "maximum": 1 << 31, "description": "From which use on."},
        "ignore_case": flag("All spellings of the word.", default=False),
    }
    return {
        "anyOf": [
            object_of(among_all, required=("vector",)),
            object_of(among_some, required=("vector", "words", "word")),
            object_of(by_word, required=("word",)),
        ]
    }
