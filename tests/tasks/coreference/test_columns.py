"""CoNLL-2012 columns: what is read, what is written again, what is refused with its line."""

from pathlib import Path

import pytest
from tests.tasks.conftest import SAMPLES, SAMPLES_OF_TASKS, small_recipe

from elmo.errors import ConfigError, InputError
from elmo.tasks.coreference.columns import Document, DocumentColumns, read_documents, write_document

pytest.importorskip("scipy", reason="the extra `tasks` is not installed")
TASK = small_recipe(SAMPLES_OF_TASKS["coreference"]).make_task()


def document(*cells: str) -> str:
    """A document of one sentence with these chains in the last column."""
    rows = "".join(f"d\t0\t{n}\tw{n}{chr(9)}-\t-\t-\t-\t-\t-\t*\t{cell}\n" for n, cell in enumerate(cells))
    return f"#begin document (d); part 000\n{rows}\n#end document\n"


def read(tmp_path: Path, text: str) -> list[Document]:
    (tmp_path / "d.conll").write_text(text, encoding="utf-8")
    return list(read_documents(str(tmp_path / "d.conll"), DocumentColumns(), answers=True))


def test_a_document_has_sentences_speakers_and_chains() -> None:
    found = TASK.read(str(SAMPLES / "coreference-train.conll"))
    assert len(found) == 9
    example = found[4]
    assert isinstance(example, Document)
    assert (example.name, example.part) == ("talk/1", "000")
    assert example.texts[0].sentences == (
        ("I", "saw", "you", "there", "."),
        ("Yes", ",", "I", "waved", "to", "you", "."),
    )
    assert example.speakers == ("Ann",) * 5 + ("Ben",) * 7
    assert example.given == (1,) * 5 + (2,) * 7
    assert example.answer == (((0, 1), (10, 11)), ((2, 3), (7, 8)))
    assert found[0].given == (0,) * 10


@pytest.mark.parametrize("name", ["coreference-train.conll", "coreference-dev.conll"])
def test_what_is_read_is_written_and_read_alike(name: str, tmp_path: Path) -> None:
    examples = TASK.read(str(SAMPLES / name))
    lines = TASK.write(examples, [example.answer for example in examples])
    (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    again = TASK.read(str(tmp_path / name))
    assert [(e.texts, e.answer, e.given) for e in again] == [(e.texts, e.answer, e.given) for e in examples]


@pytest.mark.parametrize(
    ("cells", "chains"),
    [
        (("(0)", "-", "(0)"), [[(0, 1), (2, 3)]]),
        (("(0", "(1)", "0)"), [[(0, 3)], [(1, 2)]]),
        (("(0|(1", "0)|1)"), [[(0, 2)], [(0, 2)]]),  # in two chains
        (("(0(1", "0)1)"), [[(0, 2)], [(0, 2)]]),  # without bars
        (("(1|(0)", "1)"), [[(0, 1)], [(0, 2)]]),  # of one token first
        (("(0", "(0", "0)", "0)"), [[(0, 4), (1, 3)]]),  # the last one opened is closed
        (("(0", "(1", "0)", "1)"), [[(0, 3)], [(1, 4)]]),  # crossing
        (("_", "*"), []),
    ],
)
def test_brackets_are_mentions_of_chains_in_the_order_in_which_they_open(
    cells: tuple[str, ...], chains: list[list[tuple[int, int]]], tmp_path: Path
) -> None:
    (found,) = read(tmp_path, document(*cells))
    assert found.answer == tuple(map(tuple, chains))
    lines = write_document(found, found.tokens, found.answer)
    (again,) = read(tmp_path, "".join(f"{line}\n" for line in lines))
    assert sorted(map(sorted, again.answer)) == sorted(map(sorted, found.answer))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (document("(0", "-"), r"line 2 opens a mention of chain 0 that the document does not close; 0\) is wanted"),
        (document("-", "0)"), "line 3 closes chain 0, of which no mention is open"),
        (document("(0", "1)", "0)"), "line 3 closes chain 1, of which no mention is open"),
        (document("(a)"), r"line 2 has '\(a\)' in the last column"),
        (document("(0)|"), r"line 2 has '\(0\)\|' in the last column"),
        (document("(" + "9" * 9000), "line 2 opens a mention of chain 9"),
        (document("-").replace("-\t*\t-", ""), "line 2 has 10 columns; at least 11 are wanted"),
        (document("-").replace("w0", ""), r"line 2 has an empty token \(column 4\)"),
        ("d 0 0 w - - - - - - * -\n", "line 1 stands outside of a document"),
        (document("-") + "#end document\n", "line 5 ends a document that has not begun"),
        ("#begin document (a)\n" + document("-"), "line 2 begins a document inside of that from line 1"),
        (document("-").replace("#end document\n", ""), "line 1 begins a document that does not end"),
        ("#begin document (a); part 000\n#end document\n", "line 1 begins a document without tokens"),
    ],
)
def test_what_is_malformed_is_named_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith(str(tmp_path / "d.conll"))
    assert len(str(refused.value)) < 500


def test_who_asks_about_raw_text_without_saying_so_is_told_how(tmp_path: Path) -> None:
    (tmp_path / "raw.txt").write_text("Maria lost her key.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1 stands outside of a document; .* raw text is read with --text"):
        TASK.read_questions(str(tmp_path / "raw.txt"), None)


def test_a_mention_in_two_chains_is_learned_as_one_of_the_last(tmp_path: Path) -> None:
    (found,) = read(tmp_path, document("(0)|(1)", "(0)", "(1)"))
    assert found.answer == (((0, 1), (1, 2)), ((0, 1), (2, 3)))
    assert TASK.encode(found, {}) == [0, 0, 2, 1, 1, 1, 2, 2, 2]


def test_documents_without_mentions_are_read_if_others_have_some(tmp_path: Path) -> None:
    path = tmp_path / "d.conll"
    path.write_text(document("-") + document("(0)", "(0)"), encoding="utf-8")
    assert [example.answer for example in TASK.read(str(path))] == [(), (((0, 1), (1, 2)),)]
    path.write_text(document("-") + document("(0)", "(1)"), encoding="utf-8")
    with pytest.raises(InputError, match=r"has no chains of two mentions or more in the last column of its 2 doc"):
        TASK.read(str(path))
    singles = small_recipe(SAMPLES_OF_TASKS["coreference"], task__singletons=True).make_task()
    assert [example.answer for example in singles.read(str(path))] == [(), (((0, 1),), ((1, 2),))]


def test_questions_have_no_chains_and_columns_may_be_others(tmp_path: Path) -> None:
    (question,) = TASK.read_questions(str(tmp_path / "d.conll"), None) if read(tmp_path, document("(0)")) else ()
    assert (question.tokens, question.answer) == (("w0",), None)
    (tmp_path / "few").write_text("#begin document x\n1 It (0)\n2 fell (0)\n#end document\n", encoding="utf-8")
    columns = DocumentColumns(token=2, speaker=None)
    (found,) = read_documents(str(tmp_path / "few"), columns, answers=True)
    assert (found.name, found.tokens, found.given) == ("x", ("It", "fell"), ())
    with pytest.raises(ConfigError, match="count from 1"):
        DocumentColumns(token=0)
