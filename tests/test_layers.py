"""The order of the layers: each may import only itself and those to its left (docs/architecture.md)."""

import ast
from pathlib import Path

import pytest

import elmo

ROOT = Path(elmo.__file__).parent
ORDER = [
    "errors",
    "lazy",
    "disk",
    "text",
    "corpus",
    "ops",
    "model",
    "weights",
    "embed",
    "lm",
    "run",
    "pretrain",
    "tasks",
    "analysis",
    "reproduce",
    "apps",
]
# Beside `apps`: they may import everything, and nothing imports them.
BESIDE_APPS = ["compat", "integrations"]
MOST_LINES = 400
MODULES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))


def layer_of(module: Path) -> str:
    return module.parts[0].removesuffix(".py")


def imported_layers(module: Path) -> set[str]:
    tree = ast.parse((ROOT / module).read_text("utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} has a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("elmo.")}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_imports_only_leftwards(module: Path) -> None:
    if module in (Path("__init__.py"), Path("__main__.py")):  # they hand through to all layers
        return
    layer = layer_of(module)
    allowed = set(ORDER) if layer in BESIDE_APPS else set(ORDER[: ORDER.index(layer) + 1])
    assert imported_layers(module) <= allowed | {layer}


@pytest.mark.parametrize("module", [m for m in MODULES if layer_of(m) in ("text", "errors", "lazy")], ids=str)
def test_text_knows_no_torch(module: Path) -> None:
    tree = ast.parse((ROOT / module).read_text("utf-8"))
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert not {name for name in names if name.split(".")[0] == "torch"}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(ast.parse((ROOT / module).read_text("utf-8")))


@pytest.mark.parametrize("kind", ["py", "cpp", "h", "js", "css", "html"])
def test_no_file_is_too_long_to_be_read_at_once(kind: str) -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in ROOT.rglob(f"*.{kind}")}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}
