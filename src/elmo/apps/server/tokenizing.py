"""POST /tokenize: the tokens of texts and their places, as the model would read them."""

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elmo.apps.server.answers import answer_json
from elmo.apps.server.bodies import read_json
from elmo.apps.server.calls import Call
from elmo.apps.server.fields import RequestFields
from elmo.apps.server.formats import AnswerEntry
from elmo.apps.server.operations import OBJECT, Operation, object_of
from elmo.apps.server.schemas import INTEGER, STRING, answer_of, flag, list_of
from elmo.apps.server.service import Service
from elmo.apps.server.texts import tokenize


async def tokenize_texts(service: Service, call: Call, request: Request) -> Response:
    """Answer /tokenize."""
    fields = RequestFields(await read_json(request, call, service.limits), service.limits)
    inputs = fields.texts("inputs", tokens=False)
    split = fields.flag("split_sentences", default=True)
    fields.end()
    texts = await tokenize(inputs, service.tokenizer, split=split, param="inputs")
    nothing = np.empty(0)
    entries = [AnswerEntry(number, text, nothing) for number, text in enumerate(texts)]
    results = [{"tokens": e.tokens, "offsets": e.offsets, "sentence_starts": e.sentence_starts} for e in entries]
    return answer_json({"tokenizer": service.tokenizer.to_dict(), "results": results})


TOKENIZE = Operation(
    method="POST",
    path="/tokenize",
    summary="The tokens of each text, with their places; nothing is embedded.",
    handler=tokenize_texts,
    body=object_of(
        {
            "inputs": {"anyOf": [STRING, list_of(STRING, least=1)]},
            "split_sentences": flag("Whether a text may have several sentences.", default=True),
        },
        required=("inputs",),
    ),
    answers={
        "application/json": answer_of(
            {
                "tokenizer": OBJECT,
                "results": list_of(
                    answer_of(
                        {
                            "tokens": list_of(STRING),
                            "offsets": list_of(list_of(INTEGER)),
                            "sentence_starts": list_of(INTEGER),
                        }
                    )
                ),
            }
        )
    },
)
