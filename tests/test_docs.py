"""README and docs do what they say: every `sh` and `python` block runs, and a `text` block behind one is its output.

Blocks of a page run in order in one empty folder, which has the repository's `tests` folder in it and a tiny model as
`my-model`. Numbers in outputs may differ in the last digits. A block marked `no-run` (installing, `make`) is not run.
Commands of README start as they do for anybody, those of other pages without waiting for imports (`tests/warm.py`).
A page that says `<!-- needs: sklearn -->` runs where that library is installed (`make test-integrations`).
"""

import ast
import contextlib
import inspect
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from tests.tiny import make_bilm
from tests.warm import warm_elmo

import elmo
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import write_model
from elmo.weights.loaded import LoadedModel

ROOT = Path(__file__).parent.parent
README, INDEX, PYTHON = ROOT / "README.md", ROOT / "docs" / "README.md", ROOT / "docs" / "python.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
TEMPLATE = ROOT / "recipes" / "english" / "card_template.md"  # its links are those of the card that is made from it
OTHERS = [
    *sorted(set(ROOT.glob("*.md")) - {README}),
    *(
        path
        for folder in ("benchmarks", "dev", "recipes", "src", "tests/golden")
        for path in sorted((ROOT / folder).rglob("*.md"))
        if path != TEMPLATE
    ),
]
OF_THE_CODE = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "architecture.md",
    *(ROOT / "dev" / name for name in ("log.md", "walks.md")),
]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")
NEEDS = re.compile(r"^<!-- needs: (.*) -->$", re.MULTILINE)
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d+")
TOLERANCE = 0.011  # outputs show two or three digits


@dataclass(frozen=True)
class Block:
    """A piece of code on a page, and the output shown behind it."""

    language: str
    code: str
    output: str | None


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    found = FENCE.findall(page.read_text("utf-8"))
    result = []
    for n, (info, code) in enumerate(found):
        if info in ("sh", "python"):
            follows = found[n + 1] if n + 1 < len(found) else ("", "")
            result.append(Block(info, code, follows[1] if follows[0] == "text" else None))
    return result


def needs(page: Path) -> list[str]:
    """The libraries that a page's code imports and that elmo does not bring."""
    found = NEEDS.search(page.read_text("utf-8"))
    return found[1].split(", ") if found else []


def pages_with_code() -> list[ParameterSet]:
    return [pytest.param(page, marks=marks(page), id=name_of(page)) for page in PAGES if blocks(page)]


def marks(page: Path) -> list[pytest.MarkDecorator]:
    """Which environment has what a page needs."""
    if "flair" in needs(page):
        return [pytest.mark.flair]
    return [pytest.mark.integration] if needs(page) else []


def run(block: Block, namespace: dict[str, object]) -> str:
    if block.language == "python":
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(block.code, "<block>", "exec"), namespace)
        return output.getvalue()
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block.code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{block.code}\n{done.stderr}"
    return done.stdout


def assert_same(found: str, shown: str) -> None:
    pattern, numbers = NUMBER.sub("#", shown).split(), [float(n) for n in NUMBER.findall(shown)]
    assert NUMBER.sub("#", found).split() == pattern
    assert [float(n) for n in NUMBER.findall(found)] == pytest.approx(numbers, abs=TOLERANCE)


@pytest.fixture(scope="session")
def warm_commands() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="elmo-") as folder, warm_elmo(Path(folder)):
        yield Path(folder)


@pytest.mark.timeout(1800)  # a page runs a dozen commands
@pytest.mark.parametrize("page", pages_with_code())
def test_every_block_of_a_page_runs(
    page: Path, warm_commands: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in needs(page):
        pytest.importorskip(library, reason=f"{page.name} needs {library} (make test-integrations has it)")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    write_model(LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="treebank")), tmp_path / "my-model")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    if page != README:
        monkeypatch.setenv("PATH", str(warm_commands), prepend=os.pathsep)
    namespace: dict[str, object] = {}
    for block in blocks(page):
        output = run(block, namespace)
        if block.output is not None:
            assert_same(output, block.output)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_imports_from_front_doors_alone(page: Path) -> None:
    """A package gives what its users need: nobody has to know in which module it lies."""
    code = "\n".join(code for info, code in FENCE.findall(page.read_text("utf-8")) if info.startswith("python"))
    modules = re.findall(r"^ *(?:from|import) (elmo(?:\.\w+)*)", code, re.MULTILINE)
    inner = [m for m in modules if not (ROOT / "src" / Path(*m.split(".")) / "__init__.py").is_file()]
    assert [m for m in inner if not m.startswith(("elmo.compat.", "elmo.integrations."))] == []


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=name_of)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target, heading in LINK.findall(page.read_text("utf-8")):
        if "://" in target:
            continue
        there = page.parent / target if target else page
        assert there.exists(), f"{page.name} links to {target}"
        if heading:
            assert heading in headings(there), f"{page.name} links to {target}#{heading}"


def headings(page: Path) -> list[str]:
    """The anchors that a page's headings have."""
    found = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in found]


@pytest.mark.parametrize("index", [README, INDEX], ids=name_of)
def test_every_page_is_linked_from_readme_and_index(index: Path) -> None:
    linked = {(index.parent / target).resolve() for target, _ in LINK.findall(index.read_text("utf-8")) if target}
    assert [page.name for page in PAGES if page.resolve() not in linked and page not in (README, index)] == []


@pytest.mark.parametrize(
    ("heading", "function"),
    [("Load a model", elmo.load), ("Encode", elmo.Embedder.encode), ("The `Elmo` module", elmo.Elmo.__init__)],
    ids=["load", "encode", "Elmo"],
)
def test_every_argument_is_explained_with_its_default(heading: str, function: Callable[..., object]) -> None:
    section = PYTHON.read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    shown = dict(re.findall(r"^\| `(\w+)` \|(?: `([^`]*)`)? \|", section, re.MULTILINE))
    for name, parameter in inspect.signature(function).parameters.items():
        if name in ("self", "model"):
            continue
        assert name in shown, f"docs/python.md does not explain {name}"
        if parameter.default is not inspect.Parameter.empty:
            assert ast.literal_eval(shown[name]) == parameter.default, name


def test_every_environment_variable_is_explained() -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    variables = set(re.findall(r"ELMO_[A-Z_]+", sources))
    assert {"ELMO_CACHE", "ELMO_OFFLINE"} <= variables
    page = PYTHON.read_text("utf-8")
    assert [name for name in sorted(variables) if f"`{name}`" not in page] == []


def test_every_test_that_the_docs_name_exists() -> None:
    defined = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        defined |= set(re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE))
    named = {name for page in PAGES for name in re.findall(r"`(test_\w+)`", page.read_text("utf-8"))}
    assert len(named) > 30
    assert named <= defined


@pytest.mark.parametrize("page", OF_THE_CODE, ids=name_of)
def test_every_file_that_a_page_about_the_code_names_exists(page: Path) -> None:
    text = FENCE.sub("", page.read_text("utf-8"))
    named = set(re.findall(r"`([\w./<>]+\.(?:py|cpp|toml|sh))`", text))
    missing = [name for name in sorted(named) if "<" not in name and not is_file_of_ours(name)]
    assert named
    assert missing == []


def is_file_of_ours(name: str) -> bool:
    """A path from the root or from `src/elmo`; a name without a folder is that of any file of the package."""
    if "/" in name:
        return any((folder / name).is_file() for folder in (ROOT, ROOT / "src" / "elmo"))
    return (ROOT / name).is_file() or any((ROOT / "src" / "elmo").rglob(name))


def test_the_version_to_cite_is_that_of_the_package() -> None:
    found = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    assert found[1] == elmo.__version__


@pytest.mark.parametrize("page", [*PAGES, *sorted(set(ROOT.glob("*.md")) - {README})], ids=name_of)
def test_no_page_installs_the_other_package_of_that_name(page: Path) -> None:
    """`elmo` on the package index is somebody else's."""
    assert not re.search(r"pip install (--upgrade )?['\"]?elmo(?!-embeddings)", page.read_text("utf-8"))
