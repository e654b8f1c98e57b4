# The front door. `make` alone lists the targets; each does its own set-up, once, into a cache outside the tree.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
export PYTHONDONTWRITEBYTECODE := 1

PYTHON ?= python3
ARGS ?=

# `exec`, so that a signal for make reaches the program and not a shell that dies without it.
RUN = @$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo 'Python 3.11 or newer is needed as $(PYTHON); another one is named like this: make PYTHON=python3.12'; \
	exit 1; }; exec $(PYTHON)

# A KUBECONFIG that merely happens to be in the environment may be anybody's cluster: only `make demo KUBECONFIG=…` counts.
ifeq ($(origin KUBECONFIG),command line)
DEMO_CLUSTER = --kubeconfig '$(KUBECONFIG)'
endif

LOCK = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Show what the product can do today on a real Kubernetes made here (or on yours: KUBECONFIG=…; it asks first).
	$(RUN) -m dev.demo up $(DEMO_CLUSTER)

.PHONY: demo-down
demo-down: ## Remove the demo.
	$(RUN) -m dev.demo down $(DEMO_CLUSTER)

.PHONY: test
test: ## Check everything: lint, types, layers, unit, etcd and box tests; the time of each is printed at the end.
	$(RUN) -m dev.check

.PHONY: lint
lint: ## Check style and common mistakes (ruff).
	$(RUN) -m dev.check lint

.PHONY: types
types: ## Check the types (mypy, strict).
	$(RUN) -m dev.check types

.PHONY: layers
layers: ## Check who imports whom (import-linter).
	$(RUN) -m dev.check layers

.PHONY: unit
unit: ## Run the unit tests; they need no root and no box.
	$(RUN) -m dev.check unit

.PHONY: etcd-test
etcd-test: ## Run the tests of the etcd client, against real etcd servers of every version.
	$(RUN) -m dev.check etcd-test

.PHONY: box-test
box-test: ## Run the tests that need a real Kubernetes, on a box of their own.
	$(RUN) -m dev.check box-test

.PHONY: bench
bench: ## Measure ours against a baseline beside it and print the ratios; ARGS='snapshot --rounds 3', ARGS=--help.
	$(RUN) -m dev.environment python -m bench $(ARGS)

.PHONY: pytest
pytest: ## Run pytest itself with ARGS, for example ARGS='tests/unit -k version'.
	$(RUN) -m dev.environment pytest $(ARGS)

.PHONY: format
format: ## Put the code into shape (ruff format, and the fixes ruff is sure of).
	$(RUN) -m dev.environment sh -c 'ruff check --fix-only --quiet . && ruff format .'

.PHONY: setup
setup: ## Install what is missing: Debian packages and the Python environment; says what and why.
	$(RUN) -m dev.environment
	$(RUN) box/box setup

.PHONY: build
build: setup ## Build the box's Go tools and images into the cache; goes on where it was interrupted.
	$(RUN) box/box build

.PHONY: generate
generate: ## Write what is generated anew: CRDs, the reference pages of the docs, the protobuf stubs.
	$(RUN) -m dev.environment python -m dev.generating

.PHONY: lock
lock: ## Write requirements/*.txt anew from pyproject.toml; ARGS=--upgrade takes the newest versions.
	$(RUN) -m dev.environment sh -c "\
		$(LOCK) $(ARGS) pyproject.toml -o requirements/runtime.txt && \
		$(LOCK) $(ARGS) pyproject.toml --group dev -o requirements/dev.txt && \
		$(LOCK) $(ARGS) --group pyproject.toml:stubs -o requirements/stubs.txt"

.PHONY: clean
clean: ## Remove the Python environments and the checks' caches; `box/box down --purge` removes the box's.
	$(RUN) -m dev.environment --remove
