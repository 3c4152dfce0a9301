# Everything sets itself up: a virtual environment in .venv, made from constraints.txt.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# torch first, at the tested version: a machine that has its own build of it (CPU, CUDA) is asked for that one.
TORCH := $(shell grep '^torch==' constraints.txt)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test slow lint scripts format bench docs results screenshots dist installed editable clean

demo: $(VENV)/.ready
	$(BIN)/dovetail demo

test: $(VENV)/.ready
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile

slow: $(VENV)/.ready
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow -n 2 --dist loadfile --durations=15

lint: $(VENV)/.ready scripts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The JavaScript of studio and report. Only this needs Node and npm's packages; where they cannot be had, it says so.
scripts:
	@if ! command -v npm >/dev/null; then echo "There is no npm here: JavaScript is not checked"; \
	elif ! npm install --silent --no-audit --no-fund --no-package-lock --fetch-retries=1 --fetch-timeout=30000; then echo "npm cannot get its packages: JavaScript is not checked"; \
	else npm run --silent check; fi

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.ready
	$(BIN)/python bench/population.py
	$(BIN)/python bench/specialists.py
	$(BIN)/python bench/sums.py
	$(BIN)/python bench/sculpt.py
	$(BIN)/python bench/cluster.py
	$(BIN)/python bench/trunks.py

docs: $(VENV)/.ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

results: $(VENV)/.ready
	$(BIN)/python docs/results_page.py

screenshots: $(VENV)/.ready
	$(BIN)/python docs/screenshots.py

# What is published: an sdist, and the wheel that is made from it.
dist: $(VENV)/.ready
	rm -rf dist
	$(BIN)/python -m build --no-isolation

# The wheel in place of the working tree, so that everything after it runs on what users get.
installed: dist
	$(PIP) --no-deps --force-reinstall dist/*.whl

# The working tree again, so that what is edited is what runs.
editable: $(VENV)/.ready
	$(PIP) --no-deps --no-build-isolation --force-reinstall -e .

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(TORCH)
	$(PIP) -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) node_modules build dist .pytest_cache .mypy_cache .ruff_cache
