"""/predict answers for every task that there is, as the task's own `report` does."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.apps.server.conftest import LIMITS
from tests.apps.server.running import Running, running
from tests.tasks.conftest import SAMPLES_OF_TASKS, Sample, small_recipe
from tests.tiny import make_bilm

from elmo.apps.server.app import make_app
from elmo.embed.embedder import Embedder
from elmo.errors import InputError
from elmo.tasks.training.trained import TrainedTask
from elmo.tasks.training.trainer import train_task
from elmo.text.tokenizer import Tokenizer
from elmo.weights.loaded import LoadedModel

LIMITS = LIMITS.__class__(batch_tokens=16)  # an input or two at a time


def train(sample: Sample, folder: Path) -> TrainedTask:
    recipe = small_recipe(sample, train__epochs=1)
    task = recipe.make_task()
    examples = task.read(str(sample.train))[:8]
    model = LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank"))
    result = train_task(sample.task, recipe, examples, examples, folder / "run", model=model, device="cpu")
    assert result.trained is not None
    return result.trained


@pytest.fixture(scope="module")
def ner(tmp_path_factory: pytest.TempPathFactory) -> TrainedTask:
    return train(SAMPLES_OF_TASKS["ner"], tmp_path_factory.mktemp("ner"))


@pytest.mark.parametrize("sample", SAMPLES_OF_TASKS.values(), ids=SAMPLES_OF_TASKS.keys())
def test_every_task_answers_as_it_reports(sample: Sample, embedder: Embedder, tmp_path: Path) -> None:
    trained = train(sample, tmp_path)
    examples = trained.task.read(str(sample.dev))[:6]
    lines = ["\t".join(" ".join(text.tokens) for text in example.texts) for example in examples]
    (tmp_path / "lines.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with running(make_app(embedder, tasks={"own": trained}, limits=LIMITS)) as server:
        reply = server.post("/predict", {"inputs": lines})
        try:
            asked = trained.task.read_questions(str(tmp_path / "lines.txt"), Tokenizer(rule="treebank"))
        except InputError:  # a task that reads no lines of text says so
            assert reply.status == 422
        else:
            assert reply.status == 200, reply.error
            asked = [replace(one, place=one.place.replace(str(tmp_path / "lines.txt"), "inputs")) for one in asked]
            assert reply.json == {"task": sample.task, "results": trained.report(asked)}
            assert "/" not in str([result.get("document") for result in reply.json["results"]])
        if sample.dev.suffix == ".jsonl":
            records = [json.loads(line) for line in sample.dev.read_text("utf-8").splitlines()][:6]
            found = server.post("/predict", {"inputs": records})
            assert found.json["results"] == trained.report(trained.task.read_questions(str(sample.dev), None))[:6]


def test_a_text_keeps_its_places_whatever_stands_in_it(embedder: Embedder, ner: TrainedTask) -> None:
    text = "\N{ZERO WIDTH NO-BREAK SPACE}Tom slept.\r\nAnna flew to Zürich.\nThe end"
    with running(make_app(embedder, tasks={"ner": ner}, limits=LIMITS)) as server:
        [one, empty] = server.post("/predict", {"inputs": [text, ""]}).json["results"]
        single = server.post("/predict", {"inputs": text, "task": "ner"}).json["results"]
    tokens = [token for sentence in one["sentences"] for token in sentence["tokens"]]
    assert [text[token["start"] : token["end"]] for token in tokens] == [token["text"] for token in tokens]
    assert [token["text"] for token in tokens][:3] == ["Tom", "slept", "."]
    assert (empty["sentences"], single) == ([], [one])


def test_several_tasks_are_told_apart_by_name(embedder: Embedder, ner: TrainedTask, tmp_path: Path) -> None:
    other = train(SAMPLES_OF_TASKS["classification of lines"], tmp_path)
    with running(make_app(embedder, tasks={"names": ner, "mood": other}, limits=LIMITS)) as server:
        assert (
            "task is missing; this server has names, mood" in server.post("/predict", {"inputs": "A"}).error["message"]
        )
        assert server.post("/predict", {"inputs": "A", "task": "names"}).json["task"] == "ner"
        found = server.post("/predict", {"inputs": [{"text": "A good film."}], "task": "mood"}).json
        assert found["results"][0]["text"] == "A good film."
        assert server.post("/predict", {"inputs": "A", "task": "wit"}).status == 404
        assert server.get("/info").json["tasks"] == {"names": "ner", "mood": "classification"}


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ([], "inputs is empty"),
        (5, "inputs[0] is 5; texts are wanted"),
        (["a", {"text": "b"}], "inputs[1] is an object; texts are wanted, or objects, not both"),
        ([{"text": "a"}], "inputs has objects, but the task ner reads texts"),
        ("half \ud83d", "inputs[0] has half a character"),
    ],
)
def test_what_cannot_be_answered_is_refused(embedder: Embedder, ner: TrainedTask, inputs: object, said: str) -> None:
    with running(make_app(embedder, tasks={"ner": ner}, limits=LIMITS)) as server:
        reply = server.post("/predict", {"inputs": inputs})
    assert (reply.status, said in reply.error["message"]) == (422, True), reply.error


def test_without_a_task_there_is_no_such_path(server: Running) -> None:
    assert server.post("/predict", {"inputs": "a"}).status == 404


RECORDS = {
    "classification of lines": {"text": "A good film."},
    "entailment": {"premise": "A man sleeps.", "hypothesis": "Nobody is awake."},
    "questions": {"context": "Anna flew to Lisbon. Tom slept.", "question": "Who slept?"},
}


@pytest.mark.parametrize("name", sorted(set(RECORDS) & set(SAMPLES_OF_TASKS)))
def test_records_are_those_of_a_file(embedder: Embedder, tmp_path: Path, name: str) -> None:
    trained, record = train(SAMPLES_OF_TASKS[name], tmp_path), RECORDS[name]
    (tmp_path / "asked.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    with running(make_app(embedder, tasks={name: trained}, limits=LIMITS)) as server:
        reply = server.post("/predict", {"inputs": [record]})
    assert reply.status == 200, reply.error
    assert reply.json["results"] == trained.report(trained.task.read_questions(str(tmp_path / "asked.jsonl"), None))
