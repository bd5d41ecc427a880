# `make demo` and `make test` do all set-up on a fresh machine that has Python 3.11 (or newer) and make.
# `make demo` installs what imgcl runs with, `make test` and the others also what its tests and documents need.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# Two stamps of one environment: what the product runs with, and what its tests and documents need besides.
PRODUCT := $(VENV)/.installed-product
STAMP := $(VENV)/.installed
# The second package; the library's sdist comes without it.
LAB := $(wildcard lab/pyproject.toml)
# Programs for a release only, apart from what the product runs with.
TOOLS := .tools
RELEASE_TOOLS := cyclonedx-bom==7.5.0 pip-audit==2.10.1
PIP := pip install --quiet --disable-pip-version-check
FAST := not slow and not browser and not network and not distributed
# One thread per test worker: two pools on two cores only get in each other's way.
TEST_ENV := OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=2

.PHONY: demo test test-slow test-browser docs lint format bench test-distributed bench-scale harden fuzz dist smoke smoke-min smoke-pythons walk sbom audit lock clean

demo: $(PRODUCT)
	$(BIN)/imgcl demo

test: $(STAMP)
	$(TEST_ENV) $(BIN)/pytest -n 2 -m "$(FAST)"

test-slow: $(STAMP)
	$(TEST_ENV) $(BIN)/pytest -n 2 -m "slow and not browser"

# Chromium: `apt-get install chromium`
test-browser: $(STAMP)
	$(TEST_ENV) $(BIN)/pytest -m "browser" tests/browser

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

test-distributed: $(STAMP)
	$(TEST_ENV) $(BIN)/pytest -m "distributed"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python benchmarks/report.py

# 2.4 million nodes and 62 million edges: needs 8 GB of disk.
bench-scale: $(STAMP)
	$(BIN)/python benchmarks/scale.py --write

# Kills, damaged files, odd graphs, load, in full; CI runs a slice of each suite with the slow tests.
harden: $(STAMP)
	$(TEST_ENV) $(BIN)/python scripts/harden.py

# 200,000 changed files through every reader; Linux on x86-64 only.
fuzz: $(STAMP)
	$(TEST_ENV) $(BIN)/python scripts/harden.py fuzz

# What is published: wheel and sdist of the library and of the lab.
dist: $(STAMP)
	rm -rf dist
	$(BIN)/python -m hatchling build
	cd lab && $(abspath $(BIN))/python -m hatchling build -d $(abspath dist)

# The wheel in an environment of its own, with nothing but its dependencies: downloads a gigabyte.
smoke: dist
	rm -rf build/smoke
	$(PYTHON) -m venv build/smoke
	build/smoke/bin/python -m $(PIP) -c constraints.txt dist/imgcl-[0-9]*.whl
	$(PYTHON) scripts/smoke.py --python build/smoke/bin/python
	build/smoke/bin/python -m $(PIP) --dry-run -c constraints.txt 'imgcl[umap]' # what the hint of a missing extra says

# The path of the README, on a real graph as CSV files, in that environment.
walk: smoke
	$(PYTHON) scripts/walk_readme.py --python build/smoke/bin/python

# The wheel with the lowest versions of its dependencies.
smoke-min: dist
	rm -rf build/min
	$(PYTHON) -m venv build/min
	build/min/bin/python -m $(PIP) -c constraints-min.txt dist/imgcl-[0-9]*.whl
	$(PYTHON) scripts/smoke.py --python build/min/bin/python

# The wheel on the other Pythons that it is declared for, where they are installed.
smoke-pythons: dist
	$(PYTHON) scripts/smoke_pythons.py dist/imgcl-[0-9]*.whl

# What the environment of `make smoke` consists of, as CycloneDX JSON beside the wheel.
sbom: smoke $(TOOLS)
	$(TOOLS)/bin/cyclonedx-py environment build/smoke --pyproject pyproject.toml --output-format JSON \
		--output-file dist/imgcl.cdx.json

# Known weaknesses of the pinned versions; needs the internet.
audit: $(TOOLS)
	$(TOOLS)/bin/pip-audit --disable-pip --require-hashes --strict -r requirements.lock

# After every change of constraints.txt. WHEELS: a directory with torch's CPU build.
lock: $(STAMP)
	$(BIN)/python scripts/lock.py $(if $(WHEELS),--wheels $(WHEELS))

clean:
	rm -rf $(VENV) $(TOOLS) build dist demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PRODUCT): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m $(PIP) -c constraints.txt -e .
	touch $(PRODUCT)

$(STAMP): $(PRODUCT) $(LAB)
	$(BIN)/python -m $(PIP) -c constraints.txt -e ".[dev]" $(LAB:%/pyproject.toml=-e %)
	touch $(STAMP)

$(TOOLS):
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m $(PIP) $(RELEASE_TOOLS)
