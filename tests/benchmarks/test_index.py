"""The index of benchmarks is whole, and every script starts in the one way that it names."""

import re
import runpy
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAIN = 'if __name__ == "__main__"'


def scripts(folder: str) -> list[str]:
    """The modules of a folder that are started."""
    found = [path for path in sorted((ROOT / folder).rglob("*.py")) if MAIN in path.read_text("utf-8")]
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in found)
    return [name.removesuffix(".__main__") for name in names]


def test_every_benchmark_is_in_the_index() -> None:
    index = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    assert re.findall(r"^\| `(benchmarks[\w.]*)` \|", index, re.MULTILINE) == scripts("benchmarks")


@pytest.mark.parametrize("name", [*scripts("benchmarks"), *scripts("recipes")])
def test_a_script_says_what_it_does_and_how_it_is_started(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "'.*' found in sys.modules", RuntimeWarning)  # imported by another script
        with pytest.raises(SystemExit) as ended:
            runpy.run_module(name, run_name="__main__")
    assert ended.value.code == 0
    assert "usage: " in capsys.readouterr().out
    path = ROOT.joinpath(*name.split("."))
    source = (path / "__main__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")
    assert f"python -m {name}" in source


def test_no_page_starts_a_benchmark_in_another_way() -> None:
    folders = ("docs", "dev", "benchmarks", "recipes")
    pages = [*ROOT.glob("*.md"), *(page for folder in folders for page in (ROOT / folder).rglob("*.md"))]
    wrong = re.compile(r"python (benchmarks|recipes)/|PYTHONPATH=")
    assert [page.name for page in pages if wrong.search(page.read_text("utf-8"))] == []
