# Two commands for a fresh clone: `make demo` and `make test`. Each makes its own virtual environment.
# `make test-integrations` tests elmo inside other libraries, `make test-browser` the page of `elmo explore`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-browser test-integrations lint types clean

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.package: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	$(BIN)/python -c 'from elmo.ops.cpu.library import cpu_library; cpu_library()' # built now, not at the first use
	touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(VENV)/.package
	$(BIN)/python demo

test: lint types
	$(BIN)/pytest -n 2

# Libraries that elmo works inside of, in an environment of their own: they are large, and not all of them agree.
$(VENV)-integrations/.installed: pyproject.toml constraints.txt constraints-integrations.txt
	$(PYTHON) -m venv $(VENV)-integrations
	$(VENV)-integrations/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
	    -c constraints-integrations.txt -e '.[integrations-dev]'
	touch $@

$(VENV)-flair/.installed: pyproject.toml constraints.txt constraints-flair.txt
	$(PYTHON) -m venv $(VENV)-flair
	$(VENV)-flair/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
	    -c constraints-flair.txt -e '.[flair-dev]'
	touch $@

test-integrations: $(VENV)-integrations/.installed $(VENV)-flair/.installed
	$(VENV)-integrations/bin/pytest -n 2 -m integration tests/integrations tests/test_docs.py
	$(VENV)-flair/bin/pytest -m flair tests/integrations/test_flair.py tests/integrations/test_proofs.py \
	    tests/test_docs.py

# The page of `elmo explore` in a real browser. Without Chromium, or without npm for axe-core, tests skip and say why.
$(VENV)-browser/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-browser
	$(VENV)-browser/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser-dev]'
	command -v chromium >/dev/null || (apt-get update && apt-get install -y --no-install-recommends chromium) || true
	npm install --silent --no-save --prefix $(VENV)-browser axe-core@4.14.0 || true
	touch $@

test-browser: $(VENV)-browser/.installed
	$(VENV)-browser/bin/python -m pytest -m browser -rs tests/apps/explore tests/reproduce

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

clean:
	rm -rf $(VENV) $(VENV)-browser $(VENV)-integrations $(VENV)-flair build dist .mypy_cache .ruff_cache .pytest_cache
