"""POST /similar, /neighbors and /search: words in context, as `elmo similar` and `elmo neighbors` tell of them."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elmo.apps.server.answers import answer_json
from elmo.apps.server.bodies import read_json
from elmo.apps.server.calls import Call
from elmo.apps.server.fields import RequestFields
from elmo.apps.server.operations import Operation
from elmo.apps.server.refusals import RefusedError, wrong_value
from elmo.apps.server.service import Service
from elmo.apps.server.texts import count_tokens, tokenize
from elmo.apps.server.wordschemas import (
    LAYERS_FOUND,
    LONGEST_SENTENCE,
    MOST_FOUND,
    NEIGHBORS_FOUND,
    USES_FOUND,
    WORDS,
    neighbors_body,
    search_body,
    similar_body,
)
from elmo.embed.choices import Layers


async def similar(service: Service, call: Call, request: Request) -> Response:
    """The cosine of a word in two sentences, layer by layer."""
    from elmo.analysis.similarity import compare_word

    fields = RequestFields(await read_json(request, call, service.limits), service.limits)
    call.watch(request.receive)
    word, other = fields.text("word"), fields.text("with", None)
    first, second = fields.text("first"), fields.text("second")
    fields.end()
    tokens = await _count_sentences(service, {"first": first, "second": second})
    pairs = (word, first), (other or word, second)
    cosines = await service.run(call, tokens, lambda: compare_word(service.embedder, *pairs))
    names = ["tokens", *(f"LSTM {n}" for n in range(1, len(cosines)))]
    found = [{"layer": n, "name": names[n], "similarity": round(cosine, 6)} for n, cosine in enumerate(cosines)]
    return answer_json({"model": service.name, "layers": found})


async def neighbors(service: Service, call: Call, request: Request) -> Response:
    """The nearest neighbours of a word in its sentence: in the index, or in the texts of the request."""
    from elmo.analysis.neighbors import Question

    fields = RequestFields(await read_json(request, call, service.limits), service.limits)
    call.watch(request.receive)
    question = Question(
        fields.text("word"), fields.text("sentence"), fields.integer("occurrence", None, least=1, most=LONGEST_SENTENCE)
    )
    count = fields.integer("count", 5, least=1, most=MOST_FOUND)
    ignore_case = fields.flag("ignore_case", default=False)
    words: Any = fields.choice("words", WORDS, "all")
    tokens = await _count_sentences(service, {"sentence": question.sentence})
    if fields.has("texts"):
        texts = fields.texts("texts", tokens=True)
        layer: Layers = fields.layers(service.embedder.layer_count, "top", name="layer", all_too=False)
        fields.end()
        answers = _in_texts(
            service, call, question, tokens, texts, layers=layer, count=count, words=words, ignore_case=ignore_case
        )
        asked, found = await answers
    else:
        from elmo.analysis.index.questions import answer_from_index

        index = _index(service)
        layer, centred = _layer_and_centring(service, fields)
        fields.end()
        ask = partial(
            answer_from_index, layer=layer, count=count, words=words, ignore_case=ignore_case, centred=centred
        )
        [answer] = await service.run(call, tokens, lambda: ask(service.embedder, [question], index))
        asked, found = answer.asked, answer.neighbors
    return answer_json({"model": service.name, "asked": _use(asked), "neighbors": [_neighbor(one) for one in found]})


async def search(service: Service, call: Call, request: Request) -> Response:
    """The uses in the index that are nearest to a vector; without one, the uses of a word in the order of the text."""
    index = _index(service)
    fields = RequestFields(await read_json(request, call, service.limits), service.limits)
    vector = fields.numbers("vector", service.embedder.dim)
    word = fields.text("word", None)
    count = fields.integer("count", 5, least=1, most=MOST_FOUND)
    if vector is None:
        if word is None:
            raise RefusedError(422, "vector or word is wanted", code="missing_field", param="vector")
        first = fields.integer("first", 0, least=0, most=1 << 31)
        ignore_case = fields.flag("ignore_case", default=False)
        fields.end()
        uses = index.uses(word, ignore_case=ignore_case)
        found = await service.run(call, 0, uses[first : first + count].neighbors)
        return answer_json({"model": service.name, "uses": len(uses), "neighbors": [_neighbor(one) for one in found]})
    words: Any = fields.choice("words", WORDS, "all")
    layer, centred = _layer_and_centring(service, fields)
    fields.end()
    if words != "all" and word is None:
        raise wrong_value("words", f"words is {words}; that needs the word too")
    ask = partial(index.search, layer=layer, count=count, words=words, word=word, centred=centred)
    # In the model's turn: both need all cores.
    found = await service.run(call, 1, lambda: ask(np.array(vector, dtype=np.float32)))
    return answer_json({"model": service.name, "uses": None, "neighbors": [_neighbor(one) for one in found]})


async def _in_texts(
    service: Service, call: Call, question: Any, tokens: int, texts: Sequence[Any], **options: Any
) -> tuple[Any, list[Any]]:
    """The word as the model reads it and its neighbours, found block by block, so that others have their turn."""
    from elmo.analysis.neighbors import answer_questions

    given = await tokenize(texts, service.tokenizer, split=True, param="texts")
    pieces = [piece for text in given for piece in text.pieces if piece]
    call.hold_tokens(tokens + count_tokens(given))
    found: list[Any] = []
    asked = None
    for block in _blocks(pieces, service.limits.batch_tokens):
        ask = partial(answer_questions, service.embedder, [question], block, **options)
        [answer] = await service.run(call, 0, ask)
        asked = answer.asked
        found = sorted([*found, *answer.neighbors], key=lambda one: -one.similarity)[: options["count"]]
    return asked, found


def _blocks(sentences: Sequence[list[str]], most: int) -> Iterator[list[list[str]]]:
    block: list[list[str]] = []
    for sentence in sentences:
        if block and sum(map(len, block)) + len(sentence) > most:
            yield block
            block = []
        block.append(sentence)
    yield block


async def _count_sentences(service: Service, given: dict[str, str]) -> int:
    total = 0
    for name, sentence in given.items():
        tokens = count_tokens(await tokenize([sentence], service.tokenizer, split=True, param=name))
        if tokens > LONGEST_SENTENCE:
            raise RefusedError(
                413,
                f"{name} has {tokens:,} tokens, but {LONGEST_SENTENCE:,} are allowed; send the sentence alone",
                code="too_many_tokens",
                param=name,
            )
        total += tokens
    return total


def _index(service: Service) -> Any:
    if service.index is None:
        raise RefusedError(
            404, "this server has no index; start it with --index DIR, or send texts to /neighbors", code="no_index"
        )
    return service.index


def _layer_and_centring(service: Service, fields: RequestFields) -> tuple[Any, bool]:
    layer = fields.layers(service.embedder.layer_count, None, name="layer", all_too=False)
    return layer, fields.flag("centred", default=False)


def _use(one: Any) -> dict[str, Any] | None:
    return None if one is None else {"word": one.word, "place": one.place, "tokens": one.tokens}


def _neighbor(one: Any) -> dict[str, Any]:
    return {"similarity": round(one.similarity, 6), **(_use(one) or {}), "file": one.file, "line": one.line}


def word_operations(service: Service) -> list[Operation]:
    """Those that a server has; /search only over an index."""
    count = service.embedder.layer_count
    over_index = service.index is not None
    found = [
        Operation(
            method="POST",
            path="/similar",
            summary="How alike a word is in two sentences, layer by layer.",
            handler=similar,
            body=similar_body(),
            answers={"application/json": LAYERS_FOUND},
        ),
        Operation(
            method="POST",
            path="/neighbors",
            summary="The uses nearest to a word in its sentence, in the index or in texts that are sent.",
            handler=neighbors,
            body=neighbors_body(count, over_index=over_index),
            answers={"application/json": NEIGHBORS_FOUND},
            refusals=(404,),
        ),
    ]
    if over_index:
        search_it = Operation(
            method="POST",
            path="/search",
            summary="The uses in the index nearest to a vector; without one, the uses of a word as they come.",
            handler=search,
            body=search_body(count, service.embedder.dim),
            answers={"application/json": USES_FOUND},
        )
        found.append(search_it)
    return found
