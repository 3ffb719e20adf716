"""docs/file-tree.md is what the modules say of themselves."""

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_page_is_fresh() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import make_tree; sys.stdout.write(make_tree.page())"
    done = subprocess.run([sys.executable, "-c", code, str(DOCS)], check=True, capture_output=True, text=True)
    assert done.stdout == (DOCS / "file-tree.md").read_text("utf-8"), "run python docs/make_tree.py"


def test_every_file_is_on_the_page() -> None:
    source = DOCS.parent / "src" / "elmo"
    page = (DOCS / "file-tree.md").read_text("utf-8")
    for path in source.rglob("*.py"):
        if path.name != "__init__.py":
            parts = path.relative_to(source).parts
            assert f"| `{'/'.join(parts[1:] or parts)}` |" in page
