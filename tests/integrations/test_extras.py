"""Without its library an integration says which extra to install; `import elmo` imports none of them."""

import pkgutil
import subprocess
import sys

import pytest

import elmo.integrations

EXTRAS = {"sklearn": "sklearn", "transformers": "transformers", "spacy": "spacy", "flair": "flair"}
HEAVY = ("sklearn", "transformers", "sentence_transformers", "spacy", "thinc", "huggingface_hub", "flair", "datasets")


def test_every_integration_is_tested() -> None:
    assert EXTRAS.keys() == {module.name for module in pkgutil.iter_modules(elmo.integrations.__path__)} - {"extras"}


@pytest.mark.parametrize("integration", EXTRAS)
def test_an_import_without_the_library_names_the_extra(integration: str) -> None:
    hidden = "".join(f"sys.modules[{name!r}] = None; " for name in HEAVY)
    code = f"import sys; {hidden}import elmo.integrations.{integration}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert f"elmo.integrations.{integration} needs" in last
    assert f"pip install 'elmo-embeddings[{EXTRAS[integration]}]'" in last


def test_an_old_transformers_is_refused_with_its_version() -> None:
    fake = "import sys, types; old = types.ModuleType('transformers'); old.__version__ = '4.57.6'; "
    code = f"{fake}sys.modules['transformers'] = old; import elmo.integrations.transformers"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "needs transformers 5, not 4.57.6" in done.stderr.strip().splitlines()[-1]


def test_importing_elmo_imports_no_integration() -> None:
    code = f"import sys, elmo; elmo.load, elmo.Elmo; sys.exit(any(name in sys.modules for name in {HEAVY!r}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_model_of_the_hub_without_the_library_names_the_extra() -> None:
    code = "import sys; sys.modules['huggingface_hub'] = None; import elmo; elmo.load('hf:me/tiny')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'elmo-embeddings[hub]'" in done.stderr.strip().splitlines()[-1]
