"""POST /v1/embeddings: OpenAI's, one vector a text: the mean over its tokens of the mean of all layers."""

import base64

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elmo.apps.server.answers import WholeAnswer
from elmo.apps.server.batcher import Array
from elmo.apps.server.bodies import read_json
from elmo.apps.server.calls import Call
from elmo.apps.server.fields import RequestFields
from elmo.apps.server.formats import floats
from elmo.apps.server.operations import Operation, object_of
from elmo.apps.server.refusals import wrong_value
from elmo.apps.server.schemas import INTEGER, STRING, list_of, model_field
from elmo.apps.server.service import Service
from elmo.apps.server.texts import count_tokens, embed, mean, tokenize

ANSWER = {
    "type": "object",
    "required": ["object", "data", "model", "usage"],
    "properties": {
        "object": {"const": "list"},
        "model": STRING,
        "usage": {
            "type": "object",
            "required": ["prompt_tokens", "total_tokens"],
            "properties": {"prompt_tokens": INTEGER, "total_tokens": INTEGER},
        },
        "data": list_of(
            {
                "type": "object",
                "required": ["object", "index", "embedding"],
                "properties": {
                    "object": {"const": "embedding"},
                    "index": INTEGER,
                    "embedding": {
                        "description": "Numbers, or for base64 the bytes of float32, little-endian.",
                        "anyOf": [STRING, list_of({"type": "number"})],
                    },
                },
            }
        ),
    },
}


async def embeddings(service: Service, call: Call, request: Request) -> Response:
    """Answer it."""
    fields = RequestFields(await read_json(request, call, service.limits), service.limits)
    call.watch(request.receive)
    inputs = fields.texts("input", tokens=False)
    service.check_model(fields.text("model", None))
    encoding = fields.choice("encoding_format", ("float", "base64"), "float")
    dim = service.embedder.dim
    wanted = fields.integer("dimensions", None, least=1, most=1 << 31)
    if wanted not in (None, dim):
        raise wrong_value("dimensions", f"dimensions is {wanted}, but this model's vectors have {dim}; leave it out")
    fields.text("user", None)
    fields.end()
    texts = await tokenize(inputs, service.tokenizer, split=True, param="input")
    call.hold_tokens(count_tokens(texts))
    write = _base64 if encoding == "base64" else floats
    data: list[str] = []
    async for found in embed(service.batcher, texts, "mean"):
        for vectors in found:
            vector = write(mean(vectors))
            data.append(f'{{"object": "embedding", "index": {len(data)}, "embedding": {vector}}}')
    tokens = sum(len(text.tokens) for text in texts)
    head = f'{{"object": "list", "model": {service.json_name}, '
    usage = f'"usage": {{"prompt_tokens": {tokens}, "total_tokens": {tokens}}}, '
    return WholeAnswer(f'{head}{usage}"data": [{", ".join(data)}]}}'.encode(), media_type="application/json")


def _base64(vector: Array) -> str:
    return '"' + base64.b64encode(vector.astype(np.dtype("<f4"), copy=False).tobytes()).decode("ascii") + '"'


def embeddings_operation(service: Service) -> Operation:
    """The operation over a server's model."""
    return Operation(
        method="POST",
        path="/v1/embeddings",
        summary="One vector for each text, as OpenAI's API gives it.",
        handler=embeddings,
        body=object_of(
            {
                "input": {
                    "description": "A text, or several. Token ids are refused: they are those of another model.",
                    "anyOf": [STRING, list_of(STRING, least=1)],
                },
                "model": model_field(service.name),
                "encoding_format": {"enum": ["float", "base64", None], "default": "float"},
                "dimensions": {"enum": [service.embedder.dim, None], "description": "The size of a vector."},
                "user": {"type": ["string", "null"], "description": "Ignored."},
            },
            required=("input",),
        ),
        answers={"application/json": ANSWER},
        refusals=(404,),
    )
