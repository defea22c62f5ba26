# Every command sets up what it needs; a machine with Python 3.13 or 3.11 is enough. The newest that really runs is taken, with the newest
# Blender for it (5.2 on 3.13, 5.0 on 3.11); PYTHON= names another one.
ifeq ($(origin PYTHON), undefined)
PYTHON  := $(shell bash scripts/find-python)
endif
VERSION := $(if $(PYTHON),$(shell $(PYTHON) -c "import sys; print('%d.%d' % sys.version_info[:2])"))
VENV    := .venv
BIN     := $(VENV)/bin
READY   := $(VENV)/.ready-$(VERSION)
DEMO    := build/demo
# Where the Blenders of tests and benchmarks are, as `blendwright blender add` makes them.
BLENDERS := XDG_DATA_HOME=$(CURDIR)/.envs

# Compiled modules are kept, wherever Python would be told not to: Blender's own scripts alone cost every start half a second.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs gallery extension packages bundle test test-breadth test-slow test-gui test-ui test-fleet test-packages test-matrix blenders which mcp-conformance gemini-cli check bench soak generate lock clean

ifneq ($(wildcard requirements/$(VERSION).txt),)
# An environment of another Python is replaced.
$(READY): requirements/$(VERSION).txt pyproject.toml scripts/system-libraries scripts/set-up
	@bash scripts/set-up $(PYTHON) $(VERSION) $(VENV)
	@touch $@
else
$(READY):
	@echo "$(if $(VERSION),Blender is not made for Python $(VERSION): name one of 3.13 or 3.11 with PYTHON=,$(or $(PYTHON),No Python) does not run)" >&2
	@exit 3
endif

which: $(READY)
	@$(BIN)/python -c "import importlib.metadata, sys; print('Python', sys.version.split()[0], 'of', sys.base_prefix + ', Blender', importlib.metadata.version('bpy'))"

# The main job on real Blender, told as a story: preview, run, refusal and repair, all known, a kill and its recovery, undo, a picture.
demo: which
	@$(BIN)/python scripts/demo.py $(DEMO)

# A file at a time in each process: tests of one file share what is costly to start. Three of them keep two cores busy while one waits.
# The order is that of tests/conftest.py, long files first. What has a target of its own is not even collected, which each process would do.
# test-breadth has the files that say more of the same; CI runs both.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not slow" $(addprefix --ignore tests/,gui ui fleet packages)
test: which blenders
	$(PYTEST) --part core

test-breadth: which blenders
	$(PYTEST) --part breadth

test-slow: $(READY)
	$(BIN)/python -m pytest -m "slow and not fleet" --timeout 3600 --real-starts
	$(BIN)/python -m pytest -m "not slow" --timeout 3600 --real-starts tests/engine/code/test_code_determinism.py tests/engine/code/test_python_attacks.py

# Blenders with windows on a virtual screen, driven by keys. Their roots are made once; pictures of the windows are left in build/gui.
test-gui: $(READY)
	bash scripts/gui-root
	PYTHONPATH=tests $(BIN)/python -m gui.headless
	$(BIN)/python -m pytest tests/gui -m gui

# Workers of a fleet on a real PostgreSQL, which is Debian's, in a temporary directory: killed at random, with the database restarted.
# CASES=500 is the proof at full size. Storage of outputs is moto's, which with s3fs is kept out of the environment.
CASES ?= 60
test-fleet: $(READY)
	bash scripts/postgresql > /dev/null
	-test -d build/s3 || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target build/s3 s3fs "moto[server]"
	FLEET_CASES=$(CASES) $(BIN)/python -m pytest tests/fleet -m fleet

# What is published, as a stranger gets it: wheel, sdist, extension and bundle in empty environments. Packages come from wherever pip and
# uv are told to look; uv has an environment of its own.
test-packages: $(READY) build/uv/bin/uv
	$(BLENDERS) $(BIN)/python -m pytest tests/packages -m packages

build/uv/bin/uv:
	$(PYTHON) -m venv build/uv
	build/uv/bin/python -m pip install --quiet --disable-pip-version-check uv

# The console in a real Chromium. Pictures of every view are left in build/ui; axe, which looks for what keeps people out, comes from npm.
test-ui: $(READY)
	bash scripts/chromium
	bash scripts/npm-packages $(NPM) axe-core@4.14.0
	$(BIN)/python -m pytest tests/ui -m ui

# Blenders beside that of the environment, for tests that work with several. What cannot be had here is said, by those tests as well.
blenders: $(READY)
	@for series in 5.2 5.0 4.5 4.2; do $(BLENDERS) $(BIN)/blendwright blender add $$series || test $$? -eq 3 || exit 1; done

# The conformance suite on every Blender that is supported, each in an environment of its own, and a table of what passed.
test-matrix: $(READY)
	$(BIN)/python scripts/test_matrix.py

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_without_blender.py
	$(BIN)/python scripts/generate_schemas.py --check
	$(BIN)/python scripts/generate_reference.py --check
	$(BIN)/python scripts/generate_pages.py --check
	$(BIN)/python scripts/generate_gallery.py --check
	PYTHONPATH=tests $(BIN)/python scripts/generate_refusals.py --check
	PYTHONPATH=tests $(BIN)/python scripts/generate_requirements.py --check
	$(BIN)/python scripts/generate_nodes.py --check
	$(BIN)/python scripts/check_docs.py
	$(BIN)/python scripts/prose.py --check
	$(BIN)/python scripts/check_versions.py

bench: which blenders
	$(BLENDERS) $(BIN)/python -m bench build/bench.json

# The extension for a Blender that is open: build/extension/blendwright-<version>.zip, the same bytes from the same sources.
extension: $(READY)
	$(BIN)/blendwright extension --output build/extension

# What is published: build/packages/blendwright-<version>.tar.gz and .whl, and the bundle for hosts, build/bundle/blendwright-<version>.mcpb.
packages: $(READY)
	$(BIN)/python scripts/build_packages.py --output build/packages

bundle: $(READY)
	$(BIN)/python scripts/build_bundle.py --output build/bundle

# Three clients on a real server with a real Blender, for MINUTES: memory, descriptors, scratch and throughput, with a slope for each.
MINUTES ?= 60
soak: $(READY)
	$(BIN)/python -m bench.soak --minutes $(MINUTES) --output build/soak.json

# Everything that is generated: published schemas, reference pages, the catalogue's golden files, and the nodes of the installed
# Blender. Those of the older ones are checked, or written with NODES=write, by test-matrix.
generate: $(READY)
	$(BIN)/python scripts/generate_nodes.py
	$(BIN)/python scripts/generate_schemas.py
	$(BIN)/python scripts/generate_reference.py
	$(BIN)/python scripts/generate_pages.py
	PYTHONPATH=tests $(BIN)/python scripts/generate_refusals.py
	PYTHONPATH=tests $(BIN)/python scripts/generate_requirements.py

# Pins with hashes, without the names of indexes or hosts; UPGRADE=--upgrade takes the newest versions.
lock: $(READY) build/uv/bin/uv
	$(BIN)/python scripts/lock_requirements.py build/uv/bin/uv $(UPGRADE)

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

# Pictures of the examples that have changed, and the page that shows all of them.
gallery: $(READY)
	$(BIN)/python scripts/generate_gallery.py

# The site of the documents, in build/site: strict, searchable, loading nothing from elsewhere. Its builder has an environment of its own.
docs: $(READY)
	@test -x build/mkdocs/bin/mkdocs || { $(PYTHON) -m venv build/mkdocs && build/mkdocs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt; }
	NO_MKDOCS_2_WARNING=1 $(BIN)/python scripts/build_docs.py build/mkdocs/bin/mkdocs build/site
	@echo "the site is build/site; to read it with search: python3 -m http.server --bind 127.0.0.1 --directory build/site"
