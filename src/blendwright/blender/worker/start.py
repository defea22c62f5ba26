"""The first file of every worker. It makes this package and its dependencies importable, and runs the worker.

The Python of a Blender runs this file and does not know the core's packages. Until `_add_packages` is done, only the standard
library is importable. The worker loads the package that contains this file, so the tools of core and worker cannot differ.
"""

import gc
import importlib
import importlib.util
import os
import sys
from pathlib import Path

# The start of the error message. The core recognizes it and installs the missing packages.
NO_PACKAGES = "no pydantic for Python"

# Modules to import while the directories come first.
PARTS = ("typing_extensions", "pydantic_core", "pydantic", "pydantic.main")

PACKAGE = Path(__file__).resolve().parents[2]
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


def _add_packages(arguments: list[str]) -> None:
    """Append the directories in `--packages` for this Python to sys.path. Exit with code 1 if pydantic is missing.

    They come last, because Blender's bundled packages (above all numpy) must win. They come first only while pydantic is imported,
    because it must find the matching versions of its parts.
    """
    original_path = list(sys.path)
    directories: list[str] = []
    for index, flag in enumerate(arguments):
        if flag == "--packages" and arguments[index + 1] == PYTHON:
            directories.append(arguments[index + 2])

    sys.path[:0] = directories
    if importlib.util.find_spec("pydantic") is None:
        sys.stderr.write(f"{NO_PACKAGES} {PYTHON}\n")
        sys.stderr.flush()
        os._exit(1)
    if directories:
        for name in PARTS:
            importlib.import_module(name)
    sys.path[:] = [*original_path, *directories]


def _load_package() -> None:
    """Import this package without its parent directory, which may hold compiled packages for the core's Python."""
    init = PACKAGE / "__init__.py"
    spec = importlib.util.spec_from_file_location(PACKAGE.name, init, submodule_search_locations=[str(PACKAGE)])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE.name] = package
    spec.loader.exec_module(package)


def start() -> None:
    """Prepare the imports and run the worker with the arguments after `--`."""
    # Loading creates hardly any garbage. The worker enables the collector when it starts to serve.
    gc.disable()
    arguments = sys.argv[sys.argv.index("--") + 1 :]
    _add_packages(arguments)
    _load_package()

    from blendwright.blender.worker.entry import main

    main(arguments)


if __name__ == "__main__":
    start()
