# Every command sets up what it needs; a fresh machine with Python 3.11 is enough.
PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
REQUIREMENTS := requirements.txt

.PHONY: demo test test-slow test-matrix check bench lock docs clean

$(READY): $(REQUIREMENTS) pyproject.toml scripts/system-libraries
	bash scripts/system-libraries
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(REQUIREMENTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow --timeout 3600

lock:
	uv pip compile --quiet pyproject.toml --extra blender --extra dev --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o $(REQUIREMENTS)

clean:
	rm -rf $(VENV) .envs build dist .pytest_cache .ruff_cache
