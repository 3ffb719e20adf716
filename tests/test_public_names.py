"""The names that `import elmo` gives: sorted, complete, documented, and loaded only when used."""

import subprocess
import sys

import pytest

import elmo
import elmo.model
import elmo.weights


def test_all_is_sorted_and_every_name_is_documented() -> None:
    assert list(elmo.__all__) == sorted(elmo.__all__)
    for name in elmo.__all__:
        assert name == "__version__" or getattr(elmo, name).__doc__, name
    assert set(elmo.__all__) <= set(dir(elmo))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        elmo.nothing_of_that_name  # noqa: B018


def test_importing_elmo_imports_no_torch() -> None:
    code = "import sys, elmo; elmo.__version__; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("package", [elmo.model, elmo.weights], ids=lambda package: package.__name__)
def test_a_package_exports_documented_names(package) -> None:
    assert list(package.__all__) == sorted(package.__all__)
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name).__doc__, name
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        package.nothing_of_that_name  # noqa: B018
