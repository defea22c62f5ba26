"""The loader for the package of the attaching core, because core and window must run the same package.

This module uses only the standard library."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

NAME = "blendwright"
SESSION = "blendwright.blender.window.session"
MISMATCH = "package_mismatch"
SHARED_PART = "typing_extensions"
PARTS = (SHARED_PART, "pydantic_core", "pydantic", "pydantic.main")


class CannotLoad(Exception):
    """An error that prevents loading the package. `code` is the error code for the answer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def load(params: dict[str, Any]) -> ModuleType:
    """Load the package that the first request names, and return its module with the function `attach`. Raises CannotLoad."""
    package, packages = params.get("package"), params.get("packages", [])
    if not isinstance(package, str) or not isinstance(packages, list):
        raise CannotLoad("malformed_request", "package must be a directory, and packages a list of directories")
    _add_packages([directory for directory in packages if isinstance(directory, str)])
    _load_package(Path(package))
    try:
        return importlib.import_module(SESSION)
    except ImportError as error:
        raise CannotLoad("cannot_load", f"{package} cannot be loaded by this Blender: {error}") from error


def _add_packages(directories: list[str]) -> None:
    """Append directories to `sys.path` and import pydantic from them.

    They come last, because packages that Blender ships, such as numpy, must take precedence. Only during the import of pydantic they
    come first: pydantic must find its own dependencies, and the distribution may provide older ones."""
    previous_path = list(sys.path)
    sys.path[:0] = directories
    try:
        importlib.invalidate_caches()
        if importlib.util.find_spec("pydantic") is None:
            python = f"{sys.version_info[0]}.{sys.version_info[1]}"
            raise CannotLoad("no_packages", f"no pydantic for Python {python}")
        _forget_older_parts(directories)
        for name in PARTS:
            importlib.import_module(name)
    except ImportError as error:
        raise CannotLoad("no_packages", f"pydantic cannot be imported by this Blender: {error}") from error
    finally:
        additions = [directory for directory in directories if directory not in previous_path]
        sys.path[:] = [*previous_path, *additions]


def _forget_older_parts(directories: list[str]) -> None:
    """Drop the module `typing_extensions` if another add-on loaded it, since pydantic may need a newer one.

    The add-on keeps its reference to the older module. The newer one contains everything that the older one has."""
    is_provided = any((Path(directory) / f"{SHARED_PART}.py").is_file() for directory in directories)
    if SHARED_PART in sys.modules and is_provided and "pydantic" not in sys.modules:
        del sys.modules[SHARED_PART]


def _load_package(directory: Path) -> None:
    """Load the package from its directory without adding the parent directory to `sys.path`.

    The parent directory may contain compiled packages for the core's Python version, which this Blender cannot load."""
    loaded = sys.modules.get(NAME)
    if loaded is not None:
        if not any(_is_same(path, directory) for path in loaded.__path__):
            message = f"this Blender has already loaded {NAME} from another path; restart Blender to attach this core"
            raise CannotLoad(MISMATCH, message)
        return

    entry = directory / "__init__.py"
    spec = importlib.util.spec_from_file_location(NAME, entry, submodule_search_locations=[str(directory)])
    if directory.name != NAME or spec is None or spec.loader is None or not entry.is_file():
        raise CannotLoad("cannot_load", f"there is no {NAME} in {directory}")
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    try:
        spec.loader.exec_module(package)
    except BaseException:
        del sys.modules[NAME]
        raise


def _is_same(path: str, directory: Path) -> bool:
    return Path(path).resolve() == directory.resolve()
