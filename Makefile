# Bare `make` explains itself. Everything happens in .venv; nothing else on the machine is touched.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
NATIVE := $(shell find native -type f 2>/dev/null) CMakeLists.txt pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help dev test lint quality bench kills sanitize clean

help: ## say what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

dev: $(STAMP) ## a virtual environment with neardup (editable), all extras and the tools

$(STAMP): $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip "scikit-build-core>=0.11,<2" "nanobind>=2.4,<4"
	$(BIN)/python -m pip install --quiet --no-build-isolation -e ".[all,dev]"
	@touch $(STAMP)

lint: dev ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint ## lint, types and all tests: what CI runs
	$(BIN)/pytest

bench: dev ## the speed figures of docs/performance.md, peers beside us in one run
	$(BIN)/python -m benchmarks

quality: dev ## every method on every labelled set: the tables of docs/quality.md, and the floors
	cd tests && ../$(BIN)/python -m quality

kills: dev ## kill the writer of an index 400 times at random moments, and look what is there
	cd tests && ../$(BIN)/python -m online.kills 400

sanitize: ## the same tests against a build with ASan and UBSan
	./tests/sanitize.sh

clean: ## remove everything that was built
	rm -rf $(VENV) .venv-sanitize build .mypy_cache .ruff_cache .pytest_cache .hypothesis
