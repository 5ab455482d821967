# Bare `make` explains itself. Everything happens in .venv; only a missing browser is installed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
NATIVE := $(shell find native -type f 2>/dev/null) CMakeLists.txt pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help dev browser test lint quality bench long crash spark sanitize clean

help: ## say what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

dev: $(STAMP) browser ## a virtual environment with neardup (editable), all extras and the tools

# setuptools: pyspark comes as a source package and is built here too.
$(STAMP): $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip "setuptools>=70.1" "scikit-build-core>=0.11,<2" "nanobind>=2.4,<4"
	$(BIN)/python -m pip install --quiet --no-build-isolation -e ".[all,spark,dev]"
	@touch $(STAMP)

# The one thing outside .venv: pages are tested in a real browser.
browser: ## chromium from the system's packages, where there is none yet
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; \
	then :; \
	elif command -v apt-get >/dev/null; then \
	  SUDO=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$SUDO apt-get update -qq && \
	  $$SUDO apt-get install -y -qq --no-install-recommends chromium; \
	else echo "Pages are tested in Chromium, which is not here. Hint: put chromium on PATH."; \
	fi >&2

lint: dev ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint ## lint, types and all tests: what CI runs
	$(BIN)/pytest -n 2 --dist loadfile

bench: dev ## the speed figures of docs/performance.md, peers beside us in one run
	$(BIN)/python -m benchmarks

quality: dev ## every method on every labelled set: the tables of docs/quality.md, and the floors
	cd tests && ../$(BIN)/python -m quality && ../$(BIN)/python -m quality.shared

long: dev ## the dearest properties of runs and indexes with twenty times as many examples
	NEARDUP_TIMES=20 $(BIN)/pytest tests/local tests/online

crash: dev ## kill a writer of each store hundreds of times at random moments: docs/stores.md
	cd tests && ../$(BIN)/python -m online.crashing

spark: dev ## every method on Spark and locally, and a cluster that loses a worker: docs/spark.md
	cd tests && ../$(BIN)/python -m spark.methods
	$(BIN)/pytest tests/spark/test_cluster.py

sanitize: ## the same tests against a build with ASan and UBSan
	./tests/sanitize.sh

clean: ## remove everything that was built
	rm -rf $(VENV) .venv-sanitize build .mypy_cache .ruff_cache .pytest_cache .hypothesis
