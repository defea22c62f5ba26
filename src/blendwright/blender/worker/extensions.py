"""Tools and methods that are no part of the package: Python files that whoever starts the worker names in its environment."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from blendwright.wire.worker_environment import EXTENSIONS


def extension_files() -> list[Path]:
    """The files, which confinement has to leave readable; none in production."""
    return [Path(name) for name in os.environ.get(EXTENSIONS, "").split(os.pathsep) if name]


def load_extensions() -> list[ModuleType]:
    """Import the files, each as a module of its own name."""
    return [_load(path) for path in extension_files()]


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # where pydantic looks for the types that annotations name
    spec.loader.exec_module(module)
    return module
