"""Writes docs/file-tree.md from the modules' docstrings: python docs/make_tree.py. A test says when it is stale."""

import ast
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).with_name("file-tree.md")
SOURCE = Path(__file__).parent.parent / "src" / "elmo"
# As layers import each other, from the left to the right (tests/test_layers.py); what stands beside them comes last.
ORDER = (
    "disk", "text", "corpus", "ops", "model", "weights", "embed", "lm", "run", "pretrain", "tasks", "analysis",
    "reproduce",
)  # fmt: skip
BESIDE = ("apps", "compat", "integrations")
INTRODUCTION = """# File tree

Every file of `src/elmo` with what it is for: the first sentence of its docstring. Made by `docs/make_tree.py`. Folders
stand in the order in which they may import each other ([architecture](architecture.md)).
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION, *_section(SOURCE, "elmo", deep=False)]
    folders = [SOURCE / name for name in (*ORDER, *BESIDE) if (SOURCE / name / "__init__.py").is_file()]
    for folder in folders:
        parts += _section(folder, f"elmo/{folder.name}", deep=True)
    return "\n".join(parts)


def _section(folder: Path, name: str, *, deep: bool) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{_docstring(folder / '__init__.py').splitlines()[0]}\n"
    yield "| file | what it is for |\n|---|---|"
    for path in sorted(folder.rglob("*.py") if deep else folder.glob("*.py")):
        if path != folder / "__init__.py":
            said = first_sentence(_docstring(path)).replace("|", "\\|")
            yield f"| `{path.relative_to(folder).as_posix()}` | {said} |"
    yield ""


def _docstring(path: Path) -> str:
    found = ast.get_docstring(ast.parse(path.read_text("utf-8")))
    if not found:
        raise SystemExit(f"{path}: has no docstring; say what the file is for")
    return found


def first_sentence(text: str) -> str:
    """Up to the first full stop before a space, or the first paragraph."""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return sentence + "." if stop else paragraph


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
