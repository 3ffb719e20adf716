"""Pages of marked texts: the text stays whole, marks nest, nothing of a text becomes markup."""

import random
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.tasks.conftest import SAMPLES_OF_TASKS, Sample, small_recipe

from elmo.errors import InputError
from elmo.tasks.htmlpage import Mark, MarkedText, html_page
from elmo.tasks.training.trainer import train_task


class Reader(HTMLParser):
    """The text of the paragraphs without labels, where each mark stands, and that every element is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.opened, self.marks, self.in_paragraph, self.colours = "", [], [], False, set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "meta":
            return
        if tag == "p":
            self.in_paragraph = True
        values = dict(attributes)
        assert not {"src", "href"} & values.keys()
        if tag == "mark":
            self.colours.add(values["style"])
        self.opened.append((tag, len(self.text), values.get("title")))

    def handle_endtag(self, tag: str) -> None:
        opened, start, told = self.opened.pop()
        assert opened == tag
        if tag == "mark":
            self.marks.append((start, len(self.text), told))
        if tag == "p":
            self.in_paragraph = False

    def handle_data(self, data: str) -> None:
        if self.in_paragraph and not any(tag == "sub" for tag, _, _ in self.opened):
            self.text += data


def parse(*marked_texts: MarkedText, title: str = "t") -> Reader:
    reader = Reader()
    reader.feed("".join(html_page(title, marked_texts, language="en")))
    reader.close()
    assert not reader.opened
    return reader


def test_marks_nest_and_the_text_stays_whole() -> None:
    text = 'Maria lost her <b>key</b> & "it".'
    outer, inner = Mark(11, 21, "2", "2", "chain 2"), Mark(11, 14, "1", "1", "chain 1")
    found = parse(MarkedText(text, (inner, Mark(0, 5, "1", "1", "chain 1"), outer), heading="<x>"), title="<script>")
    assert found.text == text
    assert found.marks == [(0, 5, "chain 1"), (11, 14, "chain 1"), (11, 21, "chain 2")]
    assert len(found.colours) == 2
    page = "".join(html_page("<script>", [MarkedText(text, ())], language="en"))
    assert "<script" not in page
    assert not re.search(r"https?:|url\(|@import", page)


@pytest.mark.parametrize("seed", range(20))
def test_marks_that_cross_are_cut_and_cover_what_they_covered(seed: int) -> None:
    dice = random.Random(seed)
    text = "".join(dice.choice("ab <&>\n") for _ in range(30))
    marks = tuple(
        Mark(start, dice.randint(start, 30), str(n), str(n), str(n))
        for n in range(8)
        for start in [dice.randint(0, 29)]
    )
    found = parse(MarkedText(text, marks))
    assert found.text == text
    for mark in marks:
        covered = sorted(n for start, end, told in found.marks if told == mark.told for n in range(start, end))
        assert covered == list(range(mark.start, mark.end))


@pytest.mark.parametrize("name", ["ner", "pos", "roles", "coreference"])
def test_a_task_that_marks_places_shows_all_of_its_text(name: str, tmp_path: Path) -> None:
    if name == "coreference":
        pytest.importorskip("scipy", reason="the extra `tasks` is not installed")
    sample: Sample = SAMPLES_OF_TASKS[name]
    recipe = small_recipe(sample, embedding__elmo__where="none", train__epochs=30)
    task = recipe.make_task()
    examples = task.read(str(sample.train))
    trained = train_task(name, recipe, examples, examples, tmp_path / "run", device="cpu").trained
    assert trained is not None
    questions = task.read_questions(str(sample.train), None)
    reports: list[Any] = trained.report(questions)
    marked_texts = list(task.marked_texts(reports))
    assert {marked.text for marked in marked_texts} == {values["text"] for values in reports}
    assert any(marked.marks for marked in marked_texts)
    found = parse(*marked_texts)
    assert found.text == "".join(marked.text for marked in marked_texts)


def test_a_task_that_marks_nothing_says_so() -> None:
    task = small_recipe(SAMPLES_OF_TASKS["classification"]).make_task()
    with pytest.raises(InputError, match="marks no places in a text"):
        task.marked_texts(())
