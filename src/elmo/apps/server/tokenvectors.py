"""POST /embed_tokens: the vectors of each token, as `encode` gives them, in the format that the client asks for."""

from collections.abc import AsyncIterator
from itertools import count

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elmo.apps.server.answers import answer_parts, off_loop
from elmo.apps.server.bodies import read_json
from elmo.apps.server.calls import Call
from elmo.apps.server.fields import RequestFields
from elmo.apps.server.formats import AnswerEntry, AnswerFormat, Floats, Head, choose_format, known_formats
from elmo.apps.server.operations import Operation, object_of
from elmo.apps.server.refusals import RefusedError
from elmo.apps.server.schemas import BINARY, INTEGER, NUMBER, STRING, answer_of, flag, layers, list_of, model_field
from elmo.apps.server.service import Service
from elmo.apps.server.texts import count_tokens, embed, normalized, tokenize
from elmo.embed.choices import Layers


async def embed_tokens(service: Service, call: Call, request: Request) -> Response:
    """Answer it."""
    known = known_formats()
    chosen = choose_format(request.headers.get("accept", ""), known)
    if chosen is None:
        raise RefusedError(406, f"Accept names no format that is given here: {', '.join(known)}", param="Accept")
    fields = RequestFields(await read_json(request, call, service.limits), service.limits)
    call.watch(request.receive)
    embedder = service.embedder
    inputs = fields.texts("inputs", tokens=True)
    service.check_model(fields.text("model", None))
    layers: Layers = fields.layers(embedder.layer_count)
    split = fields.flag("split_sentences", default=True)
    normalize = fields.flag("normalize", default=False)
    dtype = fields.choice("dtype", ("float32", "float16"), "float32")
    fields.end()
    texts = await tokenize(inputs, service.tokenizer, split=split, param="inputs")
    call.hold_tokens(count_tokens(texts))
    depth = embedder.layer_count if layers == "all" else None
    writer = known[chosen](Head(model=service.name, dim=embedder.dim, layers=depth, dtype=dtype, texts=texts))

    async def parts() -> AsyncIterator[bytes]:
        yield writer.begin()
        numbers = count()
        async for found in embed(service.batcher, texts, layers):
            entries = [
                AnswerEntry(number, texts[number], vectors) for number, vectors in zip(numbers, found, strict=False)
            ]
            length = sum(entry.vectors.size for entry in entries)
            yield await off_loop(length, _write, writer, entries, normalize, dtype)
        yield writer.end()

    return await answer_parts(parts(), media_type=chosen, at_once=writer.at_once)


def _write(writer: AnswerFormat, entries: list[AnswerEntry], normalize: bool, dtype: str) -> bytes:
    return writer.part([entry._replace(vectors=_finished(entry.vectors, normalize, dtype)) for entry in entries])


def _finished(vectors: Floats, normalize: bool, dtype: str) -> Floats:
    return (normalized(vectors) if normalize else vectors).astype(np.dtype(dtype), copy=False)


def embed_tokens_operation(service: Service) -> Operation:
    """The operation over a server's model."""
    texts = {
        "description": "A text, several, or lists of tokens, each one sentence that is taken as it is.",
        "anyOf": [STRING, list_of(STRING, least=1), list_of(list_of(STRING), least=1)],
    }
    entry = answer_of(
        {
            "tokens": list_of(STRING),
            "offsets": {
                "description": "Start and end of each token in code points; null where tokens were given.",
                "anyOf": [list_of(list_of(INTEGER)), {"type": "null"}],
            },
            "sentence_starts": list_of(INTEGER),
            "vectors": {
                "description": "[tokens][dim], or [layers][tokens][dim] for all layers.",
                "type": "array",
                "items": {"type": "array", "items": {"anyOf": [NUMBER, list_of(NUMBER)]}},
            },
        }
    )
    whole = answer_of({"model": STRING, "dim": INTEGER, "results": list_of(entry)})
    known = {"application/json": whole, "application/x-ndjson": STRING}
    return Operation(
        method="POST",
        path="/embed_tokens",
        summary="A vector for each token of each text; the format by Accept.",
        handler=embed_tokens,
        body=object_of(
            {
                "inputs": texts,
                "model": model_field(service.name),
                "layers": layers(service.embedder.layer_count),
                "split_sentences": flag("Whether a text may have several sentences.", default=True),
                "normalize": flag("Scale every vector to length 1.", default=False),
                "dtype": {"enum": ["float32", "float16", None], "default": "float32"},
            },
            required=("inputs",),
        ),
        answers={name: known.get(name, BINARY) for name in known_formats()},
        refusals=(404, 406),
    )
