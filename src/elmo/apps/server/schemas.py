"""Pieces of JSON schemas that several operations share."""

from elmo.apps.server.operations import Schema
from elmo.apps.server.service import ALIAS

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
BINARY: Schema = {"type": "string", "format": "binary"}


def model_field(name: str) -> Schema:
    """The name of the one model that there is, which may be left out."""
    return {"enum": list(dict.fromkeys([name, ALIAS, None])), "description": "As /v1/models has it."}


def list_of(items: Schema, *, least: int = 0) -> Schema:
    """A list of things of one kind."""
    return {"type": "array", "items": items, "minItems": least} if least else {"type": "array", "items": items}


def flag(description: str, *, default: bool) -> Schema:
    """A boolean that may be left out."""
    return {"type": ["boolean", "null"], "default": default, "description": description}


def answer_of(properties: Schema) -> Schema:
    """An answer that has all of these fields."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def layers(count: int, *, all_too: bool = True, default: str = "mean") -> Schema:
    """A choice of layers of a model that has `count`."""
    names = ["mean", "top", "all"] if all_too else ["mean", "top"]
    return {
        "description": "The mean of all layers, the top one, all of them, or one by its number (0: tokens, -1: top).",
        "default": default,
        "anyOf": [{"enum": [*names, None]}, {"type": "integer", "minimum": -count, "maximum": count - 1}],
    }
