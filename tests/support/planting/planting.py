"""Plants a bug: a function of the engine, found by its name, gives way to a wrong one wherever the engine uses it.

`planted` does it in this process. With `environment_with`, a process and all that it starts, workers among them, have the bug from
their first line on.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

VARIABLE = "BLENDWRIGHT_SEEDED_BUG"
"""The environment variable with the name of the bug that a process is to have."""
REACHED = "BLENDWRIGHT_SEEDED_BUG_REACHED"
"""The environment variable with the path of a file that is there once the wrong function was called."""
STARTED_WITH = Path(__file__).with_name("planted_child")
"""A directory whose `sitecustomize` every Python runs that has it in its path."""

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Bug:
    """`wrong` makes the wrong function out of the right one at `target` ("module:name"); one of the tests in `caught_by` must fail then.

    With `during`, another such name, the target is wrong only while that function runs. `only` is a part of the names of the tests, as
    in pytest's -k; with `[` and the beginning of its id it is one case of a parametrised one.
    """

    name: str
    target: str
    wrong: Callable[[Function], Function]
    caught_by: str
    only: str = ""
    during: str = ""


def find(name: str) -> tuple[Any, str, Function]:
    """The module or class that has a function, the function's name in it, and the function. Raises LookupError when it is gone."""
    module, _, path = name.partition(":")
    *parents, last = path.split(".")
    try:
        owner: Any = importlib.import_module(module)
        for parent in parents:
            owner = _members(owner)[parent]
        function = _members(owner)[last]
    except (ImportError, KeyError) as error:
        raise LookupError(f"{name} is gone: name the function that does its work now") from error
    if not callable(function):
        raise LookupError(f"{name} is no function any more")
    return owner, last, function


def _members(owner: Any) -> dict[str, Any]:
    """Its own, none of those that it inherits."""
    members: dict[str, Any] = owner.__dict__
    return members


@contextlib.contextmanager
def planted(bug: Bug) -> Generator[None]:
    """The bug is there inside the context; also in modules that have imported the function by name."""
    if not bug.during:
        with _replaced(bug.target, bug.wrong):
            yield
        return

    def wrong_inside(outer: Function) -> Function:
        def run(*args: Any, **kwargs: Any) -> Any:
            with _replaced(bug.target, bug.wrong):
                return outer(*args, **kwargs)

        return run

    with _replaced(bug.during, wrong_inside):
        yield


@contextlib.contextmanager
def _replaced(name: str, wrong: Callable[[Function], Function]) -> Generator[None]:
    owner, last, right = find(name)
    replacement = wrong(right)
    engine = [module for key, module in sys.modules.items() if key.partition(".")[0] == "blendwright"]
    users = [(module, key) for module in engine for key, value in list(vars(module).items()) if value is right]
    with contextlib.ExitStack() as stack:
        for place, key in {(owner, last), *users}:
            stack.enter_context(patch.object(place, key, replacement))
        yield


def can_be_planted(bug: Bug) -> None:
    """Fails where the engine has moved on: its function is gone, or has other parameters than the wrong one."""
    right = find(bug.target)[2]
    parameters = _parameters(bug.wrong(right))
    assert parameters in (_parameters(right), ["args", "kwargs"]), "the bug has other parameters than what it replaces"
    changed = bug.during or bug.target
    before = find(changed)[2]
    with planted(bug):
        assert find(changed)[2] is not before
    assert find(changed)[2] is before


def _parameters(function: Function) -> list[str]:
    return list(inspect.signature(function).parameters)


# The last line of a traceback that ends in a bug.
_RAISED_BY_A_BUG = re.compile(r"(planting|engine_bugs|wrong_functions|requirement_breaks/\w+)\.py:\d+: (?!in )\w+")


def raised_by_itself(output: str) -> bool:
    """Whether what pytest printed says that a bug broke down: then nothing can be said of the tests."""
    return _RAISED_BY_A_BUG.search(output) is not None


def environment_with(name: str, reached: Path | None = None) -> dict[str, str]:
    """The environment of a process that is to have the bug of that name, and to leave a file where it has come by it.

    A worker, which writes nowhere else than into its scratch, leaves none.
    """
    return os.environ | _passed_on(name) | ({} if reached is None else {REACHED: str(reached)})


def plant_named_bug() -> None:
    """Plant the bug that the environment names in this process, for good, and hand it on to the workers that it starts."""
    # The tables import nothing of the engine, so that a worker has its bug without loading what it would load later, or never.
    from support.planting.requirement_breaks import BREAKS
    from support.planting.seeded_bugs import BUGS

    name = os.environ[VARIABLE]
    bug = {**{bug.name: bug for bug in BUGS}, **BREAKS}[name]
    if REACHED in os.environ:
        bug = replace(bug, wrong=_noting(bug.wrong, Path(os.environ[REACHED])))
    _once_imported(bug.during or bug.target, lambda: planted(bug))
    # A worker does not inherit the environment of whoever starts it.
    environment_of_workers = "blendwright.wire.worker_environment:private_environment"
    _once_imported(environment_of_workers, lambda: _replaced(environment_of_workers, _naming(name)))


def _noting(wrong: Callable[[Function], Function], reached: Path) -> Callable[[Function], Function]:
    def make(right: Function) -> Function:
        bug = wrong(right)

        @functools.wraps(right)
        def run(*args: Any, **kwargs: Any) -> Any:
            reached.touch()
            return bug(*args, **kwargs)

        return run

    return make


def _passed_on(name: str) -> dict[str, str]:
    return {"PYTHONPATH": str(STARTED_WITH), VARIABLE: name}


def _naming(name: str) -> Callable[[Function], Function]:
    def wrong(private_environment: Function) -> Function:
        def run(scratch: Path) -> Mapping[str, str]:
            return private_environment(scratch) | _passed_on(name)

        return run

    return wrong


_PLANTED_FOR_GOOD = contextlib.ExitStack()


def _once_imported(name: str, change: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
    """Make the change as soon as the module of a function is there, before anybody can have taken the function from it."""
    module = name.partition(":")[0]
    if module in sys.modules:
        _PLANTED_FOR_GOOD.enter_context(change())
    else:
        sys.meta_path.insert(0, _AfterImport(module, lambda: _PLANTED_FOR_GOOD.enter_context(change())))


class _AfterImport:
    """Finds one module as it would be found without us, and does something once it has been executed."""

    def __init__(self, module: str, act: Callable[[], object]) -> None:
        self._module = module
        self._act = act

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_act(module: ModuleType) -> None:
            execute(module)
            self._act()

        spec.loader.exec_module = execute_and_act
        return spec
