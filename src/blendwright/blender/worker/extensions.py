"""Extra tools and methods outside the package: Python files that the starter of the worker names in its environment."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from blendwright.wire.worker_environment import EXTENSIONS


def extension_files() -> list[Path]:
    """Return the extension files, which confinement must leave readable. There are none in production."""
    names = os.environ.get(EXTENSIONS, "").split(os.pathsep)
    return [Path(name) for name in names if name]


def load_extensions() -> list[ModuleType]:
    """Import the extension files, each as a module named after its file."""
    return [_load(path) for path in extension_files()]


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # pydantic looks up the types of annotations here
    spec.loader.exec_module(module)
    return module
