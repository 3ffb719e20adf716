"""docs/results.md is what the raw runs say."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_page_and_its_pictures_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_results", DOCS / "make_results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text, drawings = module.page()
    assert text == (DOCS / "results.md").read_text("utf-8"), "run python docs/make_results.py"
    there = {path.stem: path.read_text("utf-8") for path in (DOCS / "pictures" / "results").glob("*.svg")}
    assert there == {name: f"{svg}\n" for name, svg in drawings.items()}, "run python docs/make_results.py"
