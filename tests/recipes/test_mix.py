"""From texts to a corpus: repeated lines, articles of test sets, shares and what is held out."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from recipes.english import decontaminate, deduplicate, mix
from recipes.english.deduplicate import Seen
from recipes.english.documents import LONGEST, read_documents, write_documents
from recipes.english.sources import source_of

from elmo.pretrain.config import TrainConfig

STORY = [f"word{n}" for n in range(60)]


def text_of(path: Path) -> list[list[str]]:
    return list(read_documents(path))


def test_documents_are_what_they_were(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n one \ntwo\n\n\n\nthree", encoding="utf-8")
    documents = text_of(tmp_path / "a.txt")
    assert documents == [["one", "two"], ["three"]]
    write_documents(tmp_path / "b.txt", [*documents, []])
    assert (tmp_path / "b.txt").read_text("utf-8") == "one\ntwo\n\nthree\n\n"
    (tmp_path / "c.txt").write_text("line\n" * (LONGEST + 5), encoding="utf-8")
    assert [len(document) for document in read_documents(tmp_path / "c.txt")] == [LONGEST, 5]


def test_what_was_said_before_is_repeated() -> None:
    seen = Seen(bits=20)
    assert seen.add("The cat, it sat.") == "new"
    assert seen.add("the CAT - it sat!") == "repeated"
    assert seen.add("The cat, it sat down.") == "new"


def test_another_version_of_a_line_is_nearly_repeated() -> None:
    seen = Seen(bits=20)
    assert seen.add(" ".join(STORY)) == "new"
    assert seen.add(" ".join([*STORY[:30], "now", *STORY[30:], "too"])) == "nearly repeated"
    assert seen.add(" ".join([*STORY[:14], *(f"other{n}" for n in range(46))])) == "new"


def test_chance_repeats_few_lines() -> None:
    seen = Seen(bits=18)
    found = Counter(seen.add(f"line number {n} of many") for n in range(6000))
    # 6,000 lines set at most 18,000 of 262,144 bits, so the last of them looks repeated once in 0.07 ** 3 cases.
    assert found["repeated"] <= 8
    assert all(seen.add(f"line number {n} of many") == "repeated" for n in range(6000))


def test_the_first_text_keeps_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = " ".join(STORY)
    (tmp_path / "heldout.txt").write_text("It was held out.\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text(f"{story}\nIt was held out.\n\nGood.\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text(f"GOOD\n{story} indeed\n\nMore.\nmore\n", encoding="utf-8")
    texts = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    arguments = [*texts, "--into", str(tmp_path / "new"), "--known", str(tmp_path / "heldout.txt")]
    deduplicate.main(arguments)
    assert text_of(tmp_path / "new" / "a.txt") == [[story], ["Good."]]
    assert text_of(tmp_path / "new" / "b.txt") == [["More."]]
    facts = json.loads((tmp_path / "new" / "deduplicated.json").read_text("utf-8"))
    assert facts == {"a.txt": {"new": 2, "repeated": 1}, "b.txt": {"repeated": 2, "nearly repeated": 1, "new": 1}}
    assert "b.txt: 3 of 4 lines left out" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="nothing is written over"):
        deduplicate.main(arguments)
    with pytest.raises(SystemExit, match="two texts have this name"):
        deduplicate.main([texts[0], texts[0], "--into", str(tmp_path / "twice")])


def test_an_article_of_a_test_set_is_left_out_whole(tmp_path: Path) -> None:
    known = decontaminate.Known([" ".join(STORY)])
    first, second = " ".join(STORY[:20]), " ".join(STORY[30:50])
    article = [first, second, *(f"Another line of it, number {n}." for n in range(8))]
    report = [first, *(f"A line of the report, number {n}." for n in range(8))]
    write_documents(tmp_path / "text.txt", [article, report, ["Short."]])
    counts: Counter[str] = Counter()
    kept = list(decontaminate.clean_documents(tmp_path / "text.txt", known, counts))
    assert kept == [report[1:], ["Short."]]
    assert counts == {
        "lines": 20,
        "lines that share a run": 3,
        "lines of left out documents": 8,
        "left out documents": 1,
    }


def test_the_committed_files_are_understood() -> None:
    recipes = Path(mix.__file__).parent
    shares = mix.Shares.read(recipes / "mix.toml")
    assert set(shares.heldout) < shares.share.keys()
    assert all(source_of(name).evidence for name in shares.share)
    more, english = (TrainConfig.read(recipes / name) for name in ("more.toml", "english.toml"))
    assert more.replace(steps=english.steps, optimizer=english.optimizer, schedule=english.schedule) == english.replace(
        evaluate_every=more.evaluate_every, checkpoint_every=more.checkpoint_every
    )


def write_texts(folder: Path, shares: str) -> list[str]:
    folder.mkdir()
    for name in ("white_house", "wikinews"):
        write_documents(folder / f"{name}.txt", [[f"{name} says {n}", "and more of it"] for n in range(400)])
    (folder / "shares.toml").write_text(shares, encoding="utf-8")
    return [str(folder), "--shares", str(folder / "shares.toml"), "--into", str(folder / "mix")]


def test_shares_and_what_is_held_out(tmp_path: Path) -> None:
    shares = "seed = 1\n[share]\nwhite_house = 0.5\nwikinews = 2\n[heldout]\nwords = 280\ntexts = ['white_house']\n"
    mix.main(write_texts(tmp_path / "texts", shares))
    into = tmp_path / "texts" / "mix"
    half, twice = (
        Counter(map(str, text_of(into / "white_house.txt"))),
        Counter(map(str, text_of(into / "wikinews.txt"))),
    )
    heldout = Counter(map(str, text_of(into / "english_heldout_new.txt")))
    assert set(half.values()) == {1}
    assert 150 < half.total() < 250  # 400 halves; the deviation is 10
    assert set(twice.values()) == {2}
    assert len(twice) == 400
    assert text_of(into / "wikinews.txt")[:400] == text_of(tmp_path / "texts" / "wikinews.txt")
    assert heldout.total() == 40  # of seven words each
    assert not half.keys() & heldout.keys()
    first, second = json.loads((into / "mix.json").read_text("utf-8"))
    assert (first["text"], second["text"]) == ("white_house", "wikinews")
    assert first["words"] == 7 * half.total()
    assert first["heldout_words"] == 7 * heldout.total()
    assert second["words"] == 7 * 800
    assert second["licence"] == "CC BY 2.5"
    assert first["evidence"].startswith("LICENSE, line 3")
    assert first["sha256"] == hashlib.sha256((into / "white_house.txt").read_bytes()).hexdigest()
    assert (into / "mix.md").read_text("utf-8").splitlines()[-1].startswith(f"| all | | {half.total() + 800:,} |")
    mix.main([*write_texts(tmp_path / "again", shares)])
    assert (tmp_path / "again" / "mix" / "white_house.txt").read_bytes() == (into / "white_house.txt").read_bytes()


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ("seed = 1\n[share]\nwikinews = 1\n", "must have seed"),
        ("seed = 1\n[share]\nwikinews = 0\n[heldout]\nwords = 1\ntexts = []\n", "share of wikinews is 0"),
        ("seed = 1\n[share]\nbooks = 1\n[heldout]\nwords = 1\ntexts = []\n", "books.txt: is not there"),
        (
            "seed = 1\n[share]\nwikinews = 1\n[heldout]\nwords = 1\ntexts = ['x']\n",
            "x is held out of, but has no share",
        ),
    ],
)
def test_shares_that_make_no_sense_are_named(tmp_path: Path, shares: str, message: str) -> None:
    with pytest.raises(SystemExit, match=message):
        mix.main(write_texts(tmp_path / "texts", shares))
