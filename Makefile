# Bare `make` explains itself. Everything happens in .venv; only a browser, Java and valgrind, where
# they are missing, come from the system's packages.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
FIRST  := $(or $(wildcard $(BIN)/python),$(PYTHON))
# What tools/needs.py would say, if there were a Python to run it.
NO_PYTHON := "Building neardup needs Python 3.11 or later, which was not found. Hint: apt-get install python3 (Debian, Ubuntu), dnf install python3 (Fedora), brew install python (macOS)."
NATIVE := $(shell find native -type f 2>/dev/null) CMakeLists.txt pyproject.toml
BUILD  := "cmake>=3.18" "ninja>=1.11" "setuptools>=70.1" "scikit-build-core>=0.11,<2" "nanobind>=2.4,<4"

# The tests start hundreds of processes. A machine that forbids Python to keep what it compiled, as
# images of containers do, would compile all modules in each of them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help dev needs system test quick fresh docs man wheels lint quality bench bench-check growth long kills faults fuzz load crash spark supply sign sanitize tsan aarch64 clean

help: ## say what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

dev: ## a virtual environment with neardup (editable), all extras and the tools
	@$(MAKE) --no-print-directory --jobs=2 $(STAMP) system

needs:
	@test -e $(STAMP) || command -v $(FIRST) >/dev/null || { echo $(NO_PYTHON) >&2; exit 1; }
	@test -e $(STAMP) || $(FIRST) tools/needs.py check

# Where there is a compiler cache, a new clone does not compile again what an earlier one did.
ifneq ($(shell command -v ccache),)
$(STAMP): export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
$(STAMP): export CCACHE_BASEDIR ?= $(CURDIR)
$(STAMP): export CCACHE_NOHASHDIR ?= 1
endif

# The kernels are built while packages are unpacked, which takes one core. setuptools: pyspark comes as
# a source package and is built here too. --no-compile: most of what is installed is never imported.
PIP := $(BIN)/python -m pip install --quiet --no-compile
$(STAMP): $(NATIVE) | needs
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip $(BUILD)
	$(BIN)/python tools/requirements.py all spark dev > $(VENV)/requirements.txt
	$(PIP) --no-build-isolation --no-deps -e . & kernels=$$!; \
	$(PIP) --no-build-isolation $(if $(LOCKED),-c constraints.txt) -r $(VENV)/requirements.txt; \
	packages=$$?; wait $$kernels && exit $$packages
	@touch $(STAMP)

# The one thing outside .venv: pages are tested in a real browser, Spark needs Java, valgrind counts.
# It runs beside the build, so by the Python that was there before.
system: | needs ## chromium, Java and valgrind from the system's packages, where they are missing
	@$(FIRST) tools/needs.py bring

lint: dev ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The files in the order of tests/conftest.py. Many tests wait for servers and processes, so there are
# three processes for two cores, and types are checked beside them; those of `make quick` never wait.
PYTEST := $(BIN)/pytest --dist loadfile --no-loadscope-reorder

test: dev ## lint, types and all tests but the long ones: what CI runs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/mypy & types=$$!; $(PYTEST) -n 3; tests=$$?; wait $$types && exit $$tests

quick: $(STAMP) ## two minutes: lint, types and all tests but browser, Spark, kills, real data and slow ones
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) -n 2 -q --hypothesis-profile quick -m "not (browser or spark or kills or data or slow or long or valgrind)"

fresh: ## both commands of the README in a new Debian with nothing but its packages: docs/fresh.md
	$(PYTHON) tools/fresh.py

# In an environment of its own, without neardup: the docstrings are read from the sources.
DOCS := .venv-docs

$(DOCS)/.installed: pyproject.toml
	test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(DOCS)/bin/python -m pip install --quiet --no-compile --group docs
	@touch $@

docs: $(DOCS)/.installed ## the site of the documentation, to read without a network: build/site/index.html
	$(DOCS)/bin/python tools/site.py
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict

man: $(STAMP) ## the manual page man/neardup.1, from the code of the command line
	$(BIN)/python tools/man.py

# PYTHONS="python3.11 python3.12 python3.13": two wheels, the second for 3.12 and all later ones.
wheels: ## an sdist and wheels in dist/, each installed without a compiler and run: docs/install.md
	$(PYTHON) tools/wheels.py $(or $(PYTHONS),$(PYTHON))

bench: dev ## the speed figures of docs/performance.md, peers beside us in one run
	$(BIN)/python -m benchmarks

quality: dev ## every method on every labelled set: the tables of docs/quality.md, and the floors
	cd tests && ../$(BIN)/python -m quality && ../$(BIN)/python -m quality.shared

long: dev ## what is dear and seldom fails, and properties with twenty times as many examples: docs/reliability.md
	$(BIN)/pytest -m long
	NEARDUP_TIMES=20 $(BIN)/pytest -m "hypothesis and not long"

bench-check: dev ## instructions of kernels at each level, and speed beside peers, against what is recorded
	$(BIN)/python -m benchmarks.instruction_counts
	$(BIN)/python -m benchmarks.peer_ratios

growth: dev ## how the work of methods grows on every content of benchmarks/zoo.py, to 80,000 documents
	$(BIN)/python -m benchmarks.growth

kills: dev ## kill runs with --resume 500 times at random moments: docs/reliability.md
	cd tests && ../$(BIN)/python -m engines.batch.killing --kills 500

faults: dev ## failing disks, memory, kills and power cuts in all that writes: docs/reliability.md
	cd tests && ../$(BIN)/python -m faults.injection --points $(or $(POINTS),3000) --record

fuzz: dev ## coverage-guided inputs for kernels and readers, MINUTES=10: docs/reliability.md
	cd tests && ../$(BIN)/python -m fuzz --minutes $(or $(MINUTES),10)

load: dev ## 72 simulated hours of 4,000 documents an hour with kills, ANHOUR=4000: docs/reliability.md
	cd tests && ../$(BIN)/python -m engines.index.days --an-hour $(or $(ANHOUR),4000)

crash: dev ## kill a writer of each store hundreds of times at random moments: docs/stores.md
	cd tests && ../$(BIN)/python -m engines.index.crashing

spark: dev ## every method on Spark and locally, and a cluster that loses a worker: docs/spark.md
	cd tests && ../$(BIN)/python -m engines.spark.methods
	$(BIN)/pytest -m long tests/engines/spark

supply: dev ## locked versions, licences, bill of materials, checksums of dist/, known weaknesses
	$(BIN)/python tools/supply.py lock licences sbom sums
	-$(BIN)/python tools/supply.py audit

sign: dev ## sign dist/SHA256SUMS with an SSH key, KEY=~/.ssh/id_ed25519, and check the signature
	NEARDUP_SIGNING_KEY=$(KEY) $(BIN)/python tools/supply.py sums sign check

sanitize: ## the same tests against a build with ASan and UBSan
	./tests/sanitize.sh

tsan: ## all kernels in four threads at once under ThreadSanitizer
	./tests/native/threads.sh

aarch64: ## the golden vectors of the kernels on aarch64: g++-aarch64-linux-gnu and qemu-user
	./tests/native/golden.sh aarch64-linux-gnu-g++ qemu-aarch64

clean: ## remove everything that was built
	rm -rf $(VENV) $(DOCS) .venv-sanitize build man .mypy_cache .ruff_cache .pytest_cache .hypothesis
