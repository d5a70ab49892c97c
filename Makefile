# Written for GNU make 3.81, the one that macOS ships.

SHELL = /bin/sh
PYTHON =
RUN = .venv/bin
PYTEST_ARGS =

# tools/bootstrap.py picks the Python that zclaw gets; any Python that runs can run it.
BOOTSTRAP = for p in "$(PYTHON)" python3 python3.14 python3.13 python3.12 python3.11 python python2; do \
	if "$$p" -c pass >/dev/null 2>&1; then exec "$$p" tools/bootstrap.py $(1) --python "$(PYTHON)"; fi; done; \
	echo "zclaw needs Python 3.11, 3.12, 3.13 or 3.14: install one of them." >&2; exit 2

.PHONY: chat setup test chaos check lock runtime

chat: runtime
	@$(RUN)/zclaw chat

runtime:
	@$(call BOOTSTRAP,runtime)

setup:
	@$(call BOOTSTRAP,dev)

test: setup
	@$(RUN)/python -m pytest -n auto --dist loadfile -m "not chaos" $(PYTEST_ARGS)

chaos: setup
	@$(RUN)/python -m pytest -n 0 -s -m chaos --timeout 3600 $(PYTEST_ARGS)

check: setup
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports

# Versions and hashes for every supported Python and system; run it after a change of the lists in pyproject.toml.
COMPILE = $(RUN)/python -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate --no-emit-index-url --upgrade --quiet pyproject.toml

lock: setup
	@$(RUN)/python -m uv --version >/dev/null 2>&1 || $(RUN)/python -m pip install --quiet uv
	$(COMPILE) --output-file requirements.lock
	$(COMPILE) --group dev --output-file requirements-dev.lock
