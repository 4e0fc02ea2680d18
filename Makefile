# Everything a checkout needs. `make help` lists the targets; each may be run again at any time.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.SILENT:

PYTHON ?= python3
WORKERS ?= 2
DATA_DIR ?= ./kwire-data
LISTENERS ?= PLAINTEXT://localhost:9092
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.kwire-setup

.PHONY: help setup serve test lint tools bench clean

help: ## list the targets
	awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Compiled once here, so that a broker starts as quickly where Python was told not to do it itself.
setup: $(SETUP) ## create .venv with kwire and everything needed to develop it
	$(BIN)/python -m compileall -q kwire

$(SETUP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "setup: $(PYTHON) is missing or older than 3.11; try make setup PYTHON=python3.12" >&2; \
	    exit 1; }
	test -x $(BIN)/python || echo "setup: creating $(VENV) with $$($(PYTHON) --version)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	    rm -rf $(VENV); \
	    echo "setup: no venv module; on Debian and Ubuntu: apt-get install python3-venv" >&2; \
	    exit 1; }
	echo "setup: installing kwire and its development packages into $(VENV)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,fast]'
	touch $@

serve: setup ## run one broker on localhost:9092 (LISTENERS=..., DATA_DIR=..., ARGS=...)
	exec $(BIN)/kwire serve --listeners $(LISTENERS) --data-dir $(DATA_DIR) $(ARGS)

lint: setup ## formatting, lints, types and import contracts
	echo "lint: ruff"
	$(BIN)/ruff format --check --quiet . || { echo "lint: run $(BIN)/ruff format ." >&2; exit 1; }
	$(BIN)/ruff check --quiet .
	echo "lint: mypy"
	$(BIN)/mypy --no-error-summary
	echo "lint: import contracts"
	$(BIN)/lint-imports --no-logo
	echo "lint: docker-compose.yml"
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec docker-compose.yml

tools: setup ## Kafka's jars, a JDK, Maven and kcat, which the compatibility tests run
	$(BIN)/python -m compat_tests.oracle.prepare

test: lint tools ## lint, then every test (ARGS='-k produce' for some of them)
	echo "test: pytest with $(WORKERS) workers"
	$(BIN)/pytest -n $(WORKERS) $(ARGS)

bench: setup ## measure this broker (ARGS=... are passed on)
	$(BIN)/python -m bench $(ARGS)

clean: ## remove .venv, caches and downloaded jars; data directories stay
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
