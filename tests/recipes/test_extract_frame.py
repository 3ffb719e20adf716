"""From an archive to a text: which files are read, which lines are kept, what is said about them."""

import hashlib
import io
import json
import re
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from recipes.english import sources
from recipes.english.extract import __main__ as command
from recipes.english.extract.archive import read_files
from recipes.english.extract.extractors import EXTRACTORS
from recipes.english.extract.rules import fault
from recipes.english.extract.tidy import tidy

FILES = {
    "docs/b.txt": b"two",
    "docs/a.txt": b"one",
    "docs/sub/c.txt": b"three",
    "docs/a.md": b"four",
    "docs-x/d.txt": b"5",
}
WANTED = r"docs/.*\.txt"
FOUND = [("docs/a.txt", b"one"), ("docs/b.txt", b"two"), ("docs/sub/c.txt", b"three")]
GOOD = "This is what we have said about the house by the river."


def tar_of(files: dict[str, bytes], *, top: str = "", compression: str = "") -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        for name in sorted(files):
            entry = tarfile.TarInfo(top + name)
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    return held.getvalue()


def test_a_folder_and_an_archive_give_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in FILES.items():
        (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "clone" / name).write_bytes(content)
    (tmp_path / "plain.tar").write_bytes(tar_of(FILES))
    (tmp_path / "github.tar.gz").write_bytes(tar_of(FILES, top="name-0a1b2c/", compression="gz"))
    for source in ("clone", "plain.tar", "github.tar.gz"):
        assert list(read_files(str(tmp_path / source), WANTED)) == FOUND
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(tar_of(FILES))))
    assert list(read_files("-", WANTED)) == FOUND


def test_what_is_no_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"nowhere.tar: cannot be read: No such file"):
        list(read_files(str(tmp_path / "nowhere.tar"), WANTED))
    (tmp_path / "cut.tar").write_bytes(tar_of({"docs/a.txt": b"x" * 5000})[:2000])
    with pytest.raises(SystemExit, match=r"cut.tar: is no whole tar archive .*; get it again"):
        list(read_files(str(tmp_path / "cut.tar"), WANTED))
    whole = tar_of({f"docs/{n}.txt": b"x" * 4096 for n in range(5)})
    (tmp_path / "between.tar").write_bytes(whole[: 2 * (512 + 4096)])  # two files of five, and nothing looks cut
    with pytest.raises(SystemExit, match=r"between.tar: is no whole tar archive \(its end is missing\)"):
        list(read_files(str(tmp_path / "between.tar"), WANTED))
    (tmp_path / "page.tar").write_bytes(b"<html>not found</html>" * 40)
    with pytest.raises(SystemExit, match=r"page.tar: is no whole tar archive"):
        list(read_files(str(tmp_path / "page.tar"), WANTED))


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("A  line\n of\ttext ", "A line of text"),
        ("Bread &amp; butter&nbsp;now", "Bread & butter now"),
        ("It’s “good” ‘news’", "It’s “good” ‘news’"),  # what the tokenizer knows stays
        ("it\x92s \x93good\x94 \x96 yes", "it’s “good” – yes"),
        ("It´s ''fine'' now", 'It\'s "fine" now'),
        ("co\u00adoper\u200bation", "cooperation"),
        ("cafe\u0301", "café"),
    ],
)
def test_one_spelling(written: str, known: str) -> None:
    assert tidy(written) == known
    assert tidy(known) == known


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (GOOD, None),
        ("How are you, my friend?", None),  # the common word has a comma behind it
        ("Too short a line.", "short"),
        (f"The name of it is {'x' * 46} and no other.", "long word"),
        ("It was 1 2 3 4 5 6 7 8 9 10 11 12 13", "letters"),
        ("Он сказал that it was the end of их большой and very long пути", "ASCII"),
        ("Der Hund lief gestern schnell durch einen dunklen Wald davon", "common words"),
        ("Smith, John; Miller, Paul; Brown, Anna; Baker, Rose", "common words"),
        ("Find more of this at www.example.org now", "marks, addresses"),
        ("See more about it at example.com for all", "marks, addresses"),
        ("The mark {here} is not what we have said", "marks, addresses"),
    ],
)
def test_the_first_rule_that_a_line_fails(line: str, found: str | None) -> None:
    assert fault(line) == found


def test_a_source_becomes_a_text_and_its_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turns = [GOOD, "Yes.", "We found it at http://example.org after all", GOOD.replace("river", "sea")]
    dialogues = [{"turns": [{"utterance": text} for text in turns]}, {"turns": [{"utterance": "Good bye."}]}]
    (tmp_path / "sgd.tar").write_bytes(
        tar_of({"dev/dialogues_001.json": json.dumps(dialogues).encode(), "LICENSE": b"x"})
    )
    command.main(["sgd_dialogues", str(tmp_path / "sgd.tar"), "--into", str(tmp_path / "texts")])
    text = (tmp_path / "texts" / "sgd_dialogues.txt").read_bytes()
    assert text.decode() == f"{turns[0]}\n{turns[3]}\n\n"
    facts = json.loads((tmp_path / "texts" / "sgd_dialogues.json").read_text("utf-8"))
    assert facts == {
        "source": "sgd_dialogues",
        "files": 1,
        "lines": 5,
        "short": 2,
        "marks, addresses": 1,
        "documents kept": 1,
        "lines kept": 2,
        "words kept": 24,
        "sha256": hashlib.sha256(text).hexdigest(),
    }
    assert "24 words in 2 of 5 lines" in capsys.readouterr().out


def test_an_archive_without_text_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "other.tar").write_bytes(tar_of({"LICENSE": b"x"}))
    with pytest.raises(SystemExit, match=r"taskmaster: no text in 0 files; the archives must have files such as TM-4"):
        command.main(["taskmaster", str(tmp_path / "other.tar"), "--into", str(tmp_path / "texts")])
    assert list((tmp_path / "texts").iterdir()) == []


def test_short_documents_are_left_out_whole() -> None:
    counts: dict[str, int] = command.Counter()
    assert command.chosen_lines([GOOD, "Short."], fewest_words=13, counts=counts) == []
    assert counts == {"lines": 2, "short": 1, "short document": 1}
    assert command.chosen_lines([GOOD], fewest_words=12, counts=counts) == [GOOD]


def test_each_source_has_an_address_and_a_licence(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["--list"])
    listed = capsys.readouterr().out
    for name, extractor in EXTRACTORS.items():
        assert sources.source_of(f"{name}.txt").evidence
        assert extractor.repositories
        for repository in extractor.repositories:
            assert re.fullmatch(r"[0-9a-f]{40}", repository.commit), name
            assert f"https://github.com/{repository.name}/archive/{repository.commit}.tar.gz" in listed


def test_the_page_of_texts_names_each_repository_and_its_commit() -> None:
    page = (Path(sources.__file__).parent / "TEXTS.md").read_text("utf-8")
    for name, extractor in EXTRACTORS.items():
        for repository in extractor.repositories:
            short = repository.name.removeprefix("standardebooks/")
            assert re.search(rf"{re.escape(short)}`?[ |,;]+{repository.commit[:7]}", page.replace("\n", " ")), (
                name,
                short,
            )


def test_each_function_of_a_source_is_tried_on_a_miniature() -> None:
    tests = "".join(path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("test_extract_*sources.py")))
    tried = {extractor.documents for name, extractor in EXTRACTORS.items() if f'read("{name}"' in tests}
    assert [name for name, extractor in EXTRACTORS.items() if extractor.documents not in tried] == []
