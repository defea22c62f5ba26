# Every command sets up what it needs; a fresh machine with Python 3.11 is enough.
PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEMO   := build/demo

# Compiled modules are kept, wherever Python would be told not to: Blender's own scripts alone cost every start half a second.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-matrix mcp-conformance gemini-cli check bench soak generate lock clean

$(READY): requirements.txt pyproject.toml scripts/system-libraries
	bash scripts/system-libraries
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	-$(BIN)/python -m compileall -q -j 2 $(VENV)/lib > $(VENV)/compiled.log
	touch $@

# The main job on real Blender: an example plan, every operation with its receipt, the scene as a file, and a picture of it.
demo: $(READY)
	rm -rf $(DEMO)
	$(BIN)/blendwright run examples/plans/table_set.json --workspace $(DEMO)/workspace \
	  --export $(DEMO)/table.blend --image $(DEMO)/table.png
	@echo "picture: $(DEMO)/table.png"
	for plan in examples/geonodes/*.json; do name=$$(basename $$plan .json); \
	  $(BIN)/blendwright run $$plan --workspace $(DEMO)/$$name --image $(DEMO)/$$name.png || exit 1; \
	  echo "picture: $(DEMO)/$$name.png"; done

# A file at a time in each process: tests of one file share what is costly to start. Three of them keep two cores busy while one waits.
test: $(READY)
	$(BIN)/python -m pytest -n 3 --dist loadfile -m "not slow"

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow --timeout 3600

# The conformance suite on the older Blenders that are supported, each in an environment of its own.
test-matrix: $(READY)
	bash scripts/test-matrix 4.5.15 4.2.23

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_without_blender.py
	$(BIN)/python scripts/generate_schemas.py --check
	$(BIN)/python scripts/generate_opening.py --check
	$(BIN)/python scripts/generate_reference.py --check
	PYTHONPATH=tests $(BIN)/python scripts/generate_refusals.py --check
	PYTHONPATH=tests $(BIN)/python scripts/generate_requirements.py --check
	$(BIN)/python scripts/generate_nodes.py --check
	$(BIN)/python scripts/check_docs.py

bench: $(READY)
	$(BIN)/python -m bench build/bench.json

# Three clients on a real server with a real Blender, for MINUTES: memory, descriptors, scratch and throughput, with a slope for each.
MINUTES ?= 60
soak: $(READY)
	$(BIN)/python -m bench.soak --minutes $(MINUTES) --output build/soak.json

# Everything that is generated: published schemas, reference pages, the catalogue's golden files, and the nodes of the installed
# Blender. Those of the older ones are checked, or written with NODES=write, by test-matrix.
generate: $(READY)
	$(BIN)/python scripts/generate_nodes.py
	$(BIN)/python scripts/generate_schemas.py
	$(BIN)/python scripts/generate_opening.py
	$(BIN)/python scripts/generate_reference.py
	PYTHONPATH=tests $(BIN)/python scripts/generate_refusals.py
	PYTHONPATH=tests $(BIN)/python scripts/generate_requirements.py

# Pins with hashes, without the names of indexes or hosts.
lock:
	uv pip compile --quiet pyproject.toml --extra blender --extra anthropic --extra openai --extra otel --extra dev --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-annotate --no-header -o requirements.txt

clean:
	rm -rf $(VENV) .envs build dist .pytest_cache .ruff_cache .hypothesis

# The protocol's public conformance suite and inspector against our server. They come from npm and are not part of the project.
NPM := build/npm
mcp-conformance: $(READY)
	bash scripts/npm-packages $(NPM) @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0
	$(BIN)/python scripts/mcp_conformance.py $(NPM)

# Gemini CLI with our server, asking a model on loopback: a call of a tool, a changed scene, an answer.
gemini-cli: $(READY)
	bash scripts/npm-packages $(NPM) @google/gemini-cli@0.61.0 || test $$? -eq 75
	PYTHONPATH=tests $(BIN)/python scripts/gemini_cli.py $(NPM)
