"""The words of test sets in each form that they come in."""

import json
from pathlib import Path

import pytest
from recipes.english import testsets

SAMPLES = {
    "text": ("One line.\n\nTwo.\n", ["One line.", "Two."]),
    "conll": ("-DOCSTART- -X- O O\n\ne-mail NN O O\n# NN O O\n\n", ["-DOCSTART-", "e-mail #"]),
    "conllu": ("# text = We do\n1-2\tWedo\t_\n1\tWe\twe\n2\tdo\tdo\n2.1\tnot\tnot\n\n1\tNo\tno\n", ["We do", "No"]),
    "coref": ("#begin document (x); part 0\nx 0 0 The DT -\nx 0 1 dog NN -\n\n#end document\n", ["The dog"]),
    "trees": ("(3 (2 The) (2 (2 dog) (2 's)))\n", ["The dog 's"]),
    "squad": (
        json.dumps({"data": [{"paragraphs": [{"context": "It is so.", "qas": [{"question": "Is it?"}]}]}]}),
        ["It is so.", "Is it?"],
    ),
    "snli": (json.dumps({"sentence1": "A man .", "sentence2": "A dog ."}) + "\n", ["A man .", "A dog ."]),
    "wsd": (
        "<corpus><text><sentence id='a'><wf>This</wf>\n<instance id='b'>document</instance></sentence></text></corpus>",
        ["This document"],
    ),
}


def test_each_form_has_a_sample() -> None:
    assert SAMPLES.keys() == testsets.FORMS.keys()


@pytest.mark.parametrize("form", SAMPLES)
def test_the_words_of_each_form(form: str, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "test").write_text(SAMPLES[form][0], encoding="utf-8")
    testsets.main([f"{form}={tmp_path}/set/test", "--into", str(tmp_path / "tests")])
    assert (tmp_path / "tests" / "set-test.txt").read_text("utf-8").splitlines() == SAMPLES[form][1]


def test_a_form_that_does_not_fit_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x").write_text("no tree\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="x: has no words as trees"):
        testsets.main([f"trees={tmp_path}/x", "--into", str(tmp_path / "tests")])
    with pytest.raises(SystemExit):
        testsets.main([f"tree={tmp_path}/x", "--into", str(tmp_path / "tests")])
    assert "is not FORM=FILE; the forms are text, conll" in capsys.readouterr().err
