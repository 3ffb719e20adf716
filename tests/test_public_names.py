"""The front doors: what `import elmo` and its packages give is sorted, documented, and loaded only when used."""

import importlib.util
import subprocess
import sys
import types

import pytest

import elmo

PACKAGES = [
    "disk",
    "text",
    "corpus",
    "model",
    "weights",
    "embed",
    "lm",
    "run",
    "pretrain",
    "tasks",
    "analysis",
    "analysis.index",
    "reproduce",
]
WITHOUT_TORCH = ["disk", "text", "corpus"]


@pytest.fixture(params=PACKAGES)
def package(request: pytest.FixtureRequest) -> types.ModuleType:
    return importlib.import_module(f"elmo.{request.param}")


def test_all_is_sorted_and_every_name_is_documented() -> None:
    assert list(elmo.__all__) == sorted(elmo.__all__)
    for name in elmo.__all__:
        assert name == "__version__" or getattr(elmo, name).__doc__, name
    assert set(elmo.__all__) <= set(dir(elmo))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        elmo.nothing_of_that_name  # noqa: B018


@pytest.mark.parametrize("name", ["elmo", *(f"elmo.{package}" for package in PACKAGES)])
def test_importing_a_package_imports_no_torch(name: str) -> None:
    code = f"import sys, {name}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_no_name_of_the_first_packages_needs_torch(name: str) -> None:
    code = f"import sys; from elmo.{name} import *; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_package_exports_documented_names(package: types.ModuleType) -> None:
    assert list(package.__all__) == sorted(package.__all__, key=lambda name: (not name.isupper(), name))
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name).__doc__, name
        assert name == "RECIPES" or getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        package.nothing_of_that_name  # noqa: B018


def test_no_exported_name_is_a_module_too(package: types.ModuleType) -> None:
    """Importing the module would put it in the place of what is exported."""
    for name in package.__all__:
        assert not isinstance(getattr(package, name), types.ModuleType), name
        assert importlib.util.find_spec(f"{package.__name__}.{name}") is None, name
