"""`elmo models`, and docs/models.md that has the same list."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.apps.cli.conftest import Command

from elmo.weights.published.addresses import published_names

DOCS = Path(__file__).parent.parent.parent.parent / "docs"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))


def test_all_models_are_listed_one_a_line(command: Command) -> None:
    done = command("models")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["name", "language", "parameters", "licence", "here", "address"]
    assert [line.split()[0] for line in lines[1:]] == ["english", *published_names()]
    assert "28.0 M" in lines[1]
    assert "48." in lines[1]  # MB of the packaged model


def test_a_language_has_its_models_and_json_has_all_that_is_known(command: Command) -> None:
    found = [json.loads(line) for line in command("models", "german", "--json").out.splitlines()]
    assert [model["name"] for model in found] == ["german", "manylangs-de"]
    assert found[1]["language_name"] == "German"
    assert found[1]["addresses"] == ["https://vectors.nlpl.eu/repository/11/142.zip"]
    assert found[1]["parameters"] is None
    assert found[1]["path"] is None


def test_an_unknown_language_is_one_line_with_code_2(command: Command) -> None:
    done = command("models", "klingon")
    assert done.code == 2
    assert done.err.startswith("elmo: 'klingon': no model of that name or language")
    assert done.err.count("\n") == 1


def test_the_page_is_fresh_and_has_every_name() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import make_models; sys.stdout.write(make_models.page())"
    done = subprocess.run([sys.executable, "-c", code, str(DOCS)], check=True, capture_output=True, text=True)
    page = (DOCS / "models.md").read_text("utf-8")
    assert done.stdout == page, "run python docs/make_models.py"
    for name in ("english", *published_names()):
        assert f"| `{name}` |" in page
