"""The first file of every worker: makes our own package importable, and what it needs, and runs the worker.

It is run by the Python of a Blender, which knows nothing of the core's: until this is done, only the standard library is there.
What runs is the package that this very file belongs to, so the tools of core and worker cannot drift apart.
"""

import gc
import importlib
import importlib.util
import os
import sys
from pathlib import Path

# Read by the core, which knows how to get what is missing.
NO_PACKAGES = "no pydantic for Python"

PARTS = ("typing_extensions", "pydantic_core", "pydantic", "pydantic.main")

PACKAGE = Path(__file__).resolve().parents[2]
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


def _add_packages(arguments: list[str]) -> None:
    """At the end: what Blender ships itself (numpy above all) must win over what others have.

    Only while pydantic is imported they come first: it must find its own parts, of which a distribution may have older ones."""
    former = list(sys.path)
    places = [
        arguments[place + 2]
        for place, flag in enumerate(arguments)
        if flag == "--packages" and arguments[place + 1] == PYTHON
    ]
    sys.path[:0] = places
    if importlib.util.find_spec("pydantic") is None:
        sys.stderr.write(f"{NO_PACKAGES} {PYTHON}\n")
        sys.stderr.flush()
        os._exit(1)
    if places:
        for name in PARTS:
            importlib.import_module(name)
    sys.path[:] = [*former, *places]


def _load_package() -> None:
    """Only this package, not what lies beside it: there the core may have compiled packages of another Python."""
    init = PACKAGE / "__init__.py"
    spec = importlib.util.spec_from_file_location(PACKAGE.name, init, submodule_search_locations=[str(PACKAGE)])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE.name] = package
    spec.loader.exec_module(package)


def start() -> None:
    # Hardly anything of what is loaded is garbage; the worker looks for some once it serves.
    gc.disable()
    arguments = sys.argv[sys.argv.index("--") + 1 :]
    _add_packages(arguments)
    _load_package()

    from blendwright.blender.worker.entry import main

    main(arguments)


if __name__ == "__main__":
    start()
