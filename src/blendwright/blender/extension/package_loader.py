"""Loads the package of the core that attaches: core and window must run the very same one. The standard library only."""

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
    """With a code for the answer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def load(params: dict[str, Any]) -> ModuleType:
    """The module with `attach`, of the package that the first request names."""
    package, packages = params.get("package"), params.get("packages", [])
    if not isinstance(package, str) or not isinstance(packages, list):
        raise CannotLoad("malformed_request", "package must be a directory, packages a list of them")
    _add_packages([place for place in packages if isinstance(place, str)])
    _load_package(Path(package))
    try:
        return importlib.import_module(SESSION)
    except ImportError as error:
        raise CannotLoad("cannot_load", f"{package} cannot be loaded by this Blender: {error}") from error


def _add_packages(places: list[str]) -> None:
    """At the end: what Blender ships itself (numpy above all) must win over what others have.

    Only while pydantic is imported they come first: it must find its own parts, of which a distribution may have older ones."""
    former = list(sys.path)
    sys.path[:0] = places
    try:
        importlib.invalidate_caches()
        if importlib.util.find_spec("pydantic") is None:
            python = f"{sys.version_info[0]}.{sys.version_info[1]}"
            raise CannotLoad("no_packages", f"no pydantic for Python {python}")
        _forget_older_parts(places)
        for name in PARTS:
            importlib.import_module(name)
    except ImportError as error:
        raise CannotLoad("no_packages", f"pydantic cannot be imported by this Blender: {error}") from error
    finally:
        sys.path[:] = [*former, *(place for place in places if place not in former)]


def _forget_older_parts(places: list[str]) -> None:
    """Where another add-on has loaded what pydantic needs newer: whoever has the older one keeps it, and the newer one has all of it."""
    loaded = sys.modules.get(SHARED_PART)
    found = [place for place in places if (Path(place) / f"{SHARED_PART}.py").is_file()]
    if loaded is not None and found and "pydantic" not in sys.modules:
        del sys.modules[SHARED_PART]


def _load_package(place: Path) -> None:
    """Only this package, not what lies beside it: there the core may have compiled packages of another Python."""
    loaded = sys.modules.get(NAME)
    if loaded is not None:
        if not any(_same(path, place) for path in loaded.__path__):
            message = f"this Blender has loaded {NAME} from elsewhere already; restart Blender to attach this core"
            raise CannotLoad(MISMATCH, message)
        return
    spec = importlib.util.spec_from_file_location(NAME, place / "__init__.py", submodule_search_locations=[str(place)])
    if place.name != NAME or spec is None or spec.loader is None or not (place / "__init__.py").is_file():
        raise CannotLoad("cannot_load", f"there is no {NAME} in {place}")
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    try:
        spec.loader.exec_module(package)
    except BaseException:
        del sys.modules[NAME]
        raise


def _same(one: str, other: Path) -> bool:
    return Path(one).resolve() == other.resolve()
