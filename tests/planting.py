"""Plants a bug in this process: a function of the engine, found by its name, gives way to a wrong one wherever the engine uses it."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

VARIABLE = "BLENDWRIGHT_SEEDED_BUG"
"""The environment variable with the name of the bug that a child process is to have."""

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Bug:
    """`wrong` makes the wrong function out of the right one at `target` ("module:name"); one of the tests in `caught_by` must fail then.

    With `during`, another such name, the target is wrong only while that function runs. `only` selects tests as pytest's -k does.
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


def plant_named_bug() -> contextlib.ExitStack:
    """Plant the bug that the environment names, if it names one, until the stack is closed."""
    from seeded_bugs import BUGS

    stack = contextlib.ExitStack()
    name = os.environ.get(VARIABLE)
    if name is not None:
        stack.enter_context(planted(next(bug for bug in BUGS if bug.name == name)))
    return stack


def pytest_configure(config: Any) -> None:
    """As a plugin (`-p planting`): before any test is imported."""
    config.add_cleanup(plant_named_bug().close)
