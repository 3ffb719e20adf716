"""POST /predict: the answers of trained tasks, with probabilities and places in the text."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from elmo.apps.server.answers import WholeAnswer, off_loop
from elmo.apps.server.bodies import read_json
from elmo.apps.server.calls import Call
from elmo.apps.server.fields import RequestFields, kind, whole
from elmo.apps.server.operations import OBJECT, Operation, Schema, object_of
from elmo.apps.server.refusals import RefusedError, wrong_value
from elmo.apps.server.schemas import STRING, answer_of, list_of
from elmo.apps.server.service import Service
from elmo.errors import UserError

if TYPE_CHECKING:
    from elmo.tasks.examples import Example
    from elmo.tasks.training.trained import TrainedTask

LINES, RECORDS = "inputs.txt", "inputs.jsonl"
RECORD: Schema = {"type": "object", "description": "A line of a .jsonl file of the task; others get 422."}


async def predict(service: Service, call: Call, request: Request) -> Response:
    """Answer it; the examples of one input stay together, and others have their turn between them."""
    fields = RequestFields(await read_json(request, call, service.limits), service.limits)
    call.watch(request.receive)
    name = fields.text("task", None)
    trained = _choose(service, name)
    inputs = _read_inputs(fields, service)
    fields.end()
    length = sum(len(json.dumps(one)) for one in inputs)
    examples = await off_loop(length, _read_examples, trained, inputs)
    parts = list(_parts(examples, service.limits.batch_tokens))
    call.hold_tokens(max(1, sum(map(_size, examples))))
    results: list[dict[str, Any]] = []
    for part in parts:
        results += await service.run(call, 0, lambda part=part: trained.report(part))  # type: ignore[misc]
    return WholeAnswer(json.dumps({"task": trained.name, "results": results}).encode(), media_type="application/json")


def _choose(service: Service, name: str | None) -> "TrainedTask":
    known = ", ".join(service.tasks)
    if name is None:
        if len(service.tasks) > 1:
            raise RefusedError(422, f"task is missing; this server has {known}", code="missing_field", param="task")
        return next(iter(service.tasks.values()))
    if name not in service.tasks:
        raise RefusedError(404, f"task is {kind(name)}; this server has {known}", code="task_not_found", param="task")
    return service.tasks[name]


def _read_inputs(fields: RequestFields, service: Service) -> list[Any]:
    """Lines of raw text, or the records of a .jsonl file: one or the other."""
    given = fields.anything("inputs")
    inputs = given if isinstance(given, list) else [given]
    most = service.limits.most_inputs
    if len(inputs) > most:
        raise RefusedError(
            413, f"inputs has {len(inputs):,} texts, but {most:,} are allowed", code="too_many_inputs", param="inputs"
        )
    if not inputs:
        raise wrong_value("inputs", "inputs is empty; a text, an object, or a list of one of them is wanted")
    wanted = type(inputs[0])
    for number, one in enumerate(inputs):
        if wanted not in (str, dict) or not isinstance(one, wanted):
            raise wrong_value("inputs", f"inputs[{number}] is {kind(one)}; texts are wanted, or objects, not both")
        whole(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False), f"inputs[{number}]")
    return inputs


def _read_examples(trained: "TrainedTask", inputs: list[Any]) -> "list[Example]":
    """The inputs as the task reads them from a file: it alone knows what a line or a record of it means."""
    from elmo.text.tokenizer import Tokenizer

    elmo = trained.embedding.elmo
    tokenizer = Tokenizer() if elmo is None else elmo.model.tokenizer
    is_text = isinstance(inputs[0], str)
    if not (is_text or trained.task.reads_records):
        raise wrong_value("inputs", f"inputs has objects, but the task {trained.name} reads texts; send strings")
    with tempfile.TemporaryDirectory(prefix="elmo-serve-") as folder:
        path = Path(folder) / (LINES if is_text else RECORDS)
        lines = map(_as_line, inputs) if is_text else map(json.dumps, inputs)
        path.write_bytes("".join(f"{line}\n" for line in lines).encode())
        try:
            examples = trained.task.read_questions(str(path), tokenizer if is_text else None)
        except UserError as error:
            raise wrong_value("inputs", str(error).replace(str(path), "inputs")) from None
    # Some tasks answer with the place of a text, and the folder is nobody's business.
    return [replace(example, place=example.place.replace(str(path), "inputs")) for example in examples]


def _as_line(text: str) -> str:
    """Without line ends, in the same places; and without a mark that would be dropped from the beginning of a file."""
    line = text.replace("\n", " ").replace("\r", " ")
    return " " + line[1:] if line.startswith("\N{ZERO WIDTH NO-BREAK SPACE}") else line


def _parts(examples: "Sequence[Example]", most: int) -> "Iterator[list[Example]]":
    part: list[Example] = []
    tokens = 0
    for _, group in groupby(examples, key=lambda example: example.place):
        own = list(group)
        size = sum(map(_size, own))
        if part and tokens + size > most:
            yield part
            part, tokens = [], 0
        part += own
        tokens += size
    if part:
        yield part


def _size(example: "Example") -> int:
    return max(1, sum(map(len, example.texts)))


def predict_operation(service: Service) -> Operation:
    """The operation over the tasks that a server has."""
    only_one = len(service.tasks) == 1
    forms = []
    for name, trained in service.tasks.items():
        kinds = [STRING, list_of(STRING, least=1)]
        if trained.task.reads_records:
            kinds += [RECORD, list_of(RECORD, least=1)]
        task = {"enum": [name, None] if only_one else [name]}
        required = ("inputs",) if only_one else ("inputs", "task")
        forms.append(object_of({"inputs": {"anyOf": kinds}, "task": task}, required=required))
    return Operation(
        method="POST",
        path="/predict",
        summary="What a trained task answers, as `elmo task predict --json` writes it.",
        handler=predict,
        body=forms[0] if only_one else {"anyOf": forms},
        answers={"application/json": answer_of({"task": STRING, "results": list_of(OBJECT)})},
        refusals=(404,),
    )
