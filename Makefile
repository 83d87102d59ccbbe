# The commands of the README; each sets up .venv first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test quick lint clean

demo: .venv/installed
	$(BIN)/python examples/demo.py

# Two processes, each with whole files, whose fixtures are then made once.
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile

test: lint
	$(PYTEST) --durations 10

# For every change: no types, no kills, no real data, a tenth of the examples.
quick: .venv/installed
	$(BIN)/ruff check .
	$(PYTEST) -m "not slow" --hypothesis-profile dev tests sega_anchor

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The constraints pin torch, so that pip does not fetch a newer build with CUDA.
.venv/installed: pyproject.toml .ci/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "sega-anchor needs Python 3.11 or later: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	@echo "Installing (some minutes the first time)"
	$(BIN)/python -m pip install --quiet --constraint .ci/constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv build dist
