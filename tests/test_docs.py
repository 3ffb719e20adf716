"""README and docs do what they say: every `sh` and `python` block runs, and a `text` block behind one is its output.

Blocks of a page run in order in one empty folder, which has the repository's `tests` folder in it and a tiny model as
`my-model`. Numbers in outputs may differ in the last digits. A block marked `no-run` (installing, `make`) is not run.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.tiny import make_bilm

from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+")
TOLERANCE = 0.011  # outputs show two or three digits


@dataclass(frozen=True)
class Block:
    """A piece of code on a page, and the output shown behind it."""

    language: str
    code: str
    output: str | None


def blocks(page: Path) -> list[Block]:
    found = FENCE.findall(page.read_text("utf-8"))
    result = []
    for n, (info, code) in enumerate(found):
        if info in ("sh", "python"):
            follows = found[n + 1] if n + 1 < len(found) else ("", "")
            result.append(Block(info, code, follows[1] if follows[0] == "text" else None))
    return result


def run(block: Block, namespace: dict[str, object]) -> str:
    if block.language == "python":
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(block.code, "<block>", "exec"), namespace)
        return output.getvalue()
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{block.code}\n{done.stderr}"
    return done.stdout


def assert_same(found: str, shown: str) -> None:
    pattern, numbers = NUMBER.sub("#", shown).split(), [float(n) for n in NUMBER.findall(shown)]
    assert NUMBER.sub("#", found).split() == pattern
    assert [float(n) for n in NUMBER.findall(found)] == pytest.approx(numbers, abs=TOLERANCE)


@pytest.mark.timeout(900)  # a page starts a dozen processes, each of which imports torch
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank")), tmp_path / "my-model")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in blocks(page):
        output = run(block, namespace)
        if block.output is not None:
            assert_same(output, block.output)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_test_that_the_docs_name_exists() -> None:
    defined = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        defined |= set(re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE))
    named = {name for page in PAGES for name in re.findall(r"`(test_\w+)`", page.read_text("utf-8"))}
    assert len(named) > 30
    assert named <= defined
