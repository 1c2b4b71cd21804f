# Every target sets up what it needs: uv if it is there, otherwise python's own venv and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

ifeq ($(UV),)
CREATE = $(PYTHON) -m venv $(VENV)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
else
CREATE = $(UV) venv --quiet --python $(PYTHON) $(VENV)
INSTALL = $(UV) pip install --quiet --python $(BIN)/python
endif

.PHONY: help demo test types bench proof docs clean

help:
	@echo "make demo   the whole story on simulated participants; ends in demo/report.html"
	@echo "make test   lint, types and tests"
	@echo "make types  the package's types, strictly"
	@echo "make bench  speed and memory against named peers, one JSON line a case"
	@echo "make proof  the long claims, one JSON line each"
	@echo "make docs   guides, tutorials and the API reference as pages in docs/_site"
	@echo "make clean  remove what the above made"

$(VENV)/made:
	$(CREATE)
	@touch $@

$(VENV)/core: $(VENV)/made pyproject.toml
	$(INSTALL) --editable .
	@touch $@

$(VENV)/test: $(VENV)/made pyproject.toml
	$(INSTALL) --editable ".[test]"
	@touch $@ $(VENV)/core

$(VENV)/bench: $(VENV)/test
	$(INSTALL) --editable ".[test,bench]"
	@touch $@

$(VENV)/docs: $(VENV)/core
	$(INSTALL) --editable ".[docs]"
	@touch $@

demo: $(VENV)/core
	@rm -rf demo
	$(BIN)/eyelid demo --out demo

# Types are looked at beside the tests, since that takes one core, and told after them.
# Compiled modules are kept whatever the environment says: tests start many interpreters.
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/mypy > $(VENV)/types.txt 2>&1 & types=$$!; $(BIN)/pytest -n 2 --dist loadscope; \
	tests=$$?; wait $$types; types=$$?; cat $(VENV)/types.txt; exit $$((tests + types))

types: $(VENV)/test
	$(BIN)/mypy

bench: $(VENV)/bench
	$(BIN)/python -m benchmarks

proof: types
	$(BIN)/python -m proofs

docs: $(VENV)/docs
	$(BIN)/python -W error -m docs.build

clean:
	rm -rf $(VENV) demo docs/_site .pytest_cache .mypy_cache .ruff_cache .hypothesis
