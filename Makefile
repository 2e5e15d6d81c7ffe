# Two commands are enough on a fresh machine: `make demo` and `make test`.
# Both need python3 (3.11 or newer, with venv) and make; everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCKER := .lock-venv
# Only pip's errors are worth a reader's time.
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

# One more than there are processors: tests wait for servers and children, too.
TEST_WORKERS ?= $(shell expr $$($(PYTHON) -c 'import os; print(os.cpu_count() or 1)') + 1)

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint format bench lock clean

help: ## show these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

setup: $(VENV)/.project ## create .venv from the lock and install the project into it

$(VENV)/.locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Coati needs Python 3.11 or newer, and $(PYTHON) is not." \
	       "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Setting up $(VENV) ..." >&2
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --require-hashes --no-deps --no-compile -r requirements.lock
	@touch $@

$(VENV)/.project: $(VENV)/.locked pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup ## run the main job on a bundled sample site
	@$(BIN)/python -m coati.testing.demo

test: setup lint ## lint, type-check and run all tests
	@scripts/ensure-chromium
	@$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadscope

check: test ## the same as make test

lint: setup ## ruff, mypy and the import rules
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: setup ## let ruff reformat and fix what it can
	@$(BIN)/ruff check --fix-only
	@$(BIN)/ruff format

bench: setup ## run the benchmarks
	@$(BIN)/python -m benchmarks.run $(if $(ARCHIVES),--archives $(ARCHIVES))

lock: ## resolve requirements.lock again
	@$(PYTHON) -m venv --clear $(LOCKER)
	@$(LOCKER)/bin/python -m pip --disable-pip-version-check -qq install uv
	@$(LOCKER)/bin/uv pip compile pyproject.toml --quiet --upgrade --no-header --generate-hashes \
	  --universal --python-version 3.11 --fork-strategy fewest \
	  --extra hnsw --extra experiments --group dev --output-file requirements.lock
	@rm -rf $(LOCKER)

clean: ## remove .venv and everything that was built
	@rm -rf $(VENV) $(LOCKER) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
