"""Ways to be wrong that many bugs share: each makes the wrong function out of the right one. Imports nothing of the engine."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from support.planting.planting import Function


def omitted(right: Function) -> Function:
    """It is called, and nothing happens."""

    def wrong(*args: Any, **kwargs: Any) -> None:
        return None

    return wrong


def answering(value: Any) -> Callable[[Function], Function]:
    """Whatever it is called with, this is its answer."""

    def make(right: Function) -> Function:
        def wrong(*args: Any, **kwargs: Any) -> Any:
            return value

        return wrong

    return make


def finding_nothing(right: Function) -> Function:
    """A check that has nothing to find: an empty list where findings are yielded or returned."""

    def wrong(*args: Any, **kwargs: Any) -> Any:
        return iter(())

    return wrong


def changing(change: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """It does its work, and its answer is changed."""

    def make(right: Function) -> Function:
        def wrong(*args: Any, **kwargs: Any) -> Any:
            return change(right(*args, **kwargs))

        return wrong

    return make


def given(place: int, value: Any) -> Callable[[Function], Function]:
    """Whatever it is called with, the argument at this place is another one."""

    def make(right: Function) -> Function:
        def wrong(*args: Any, **kwargs: Any) -> Any:
            return right(*args[:place], value, *args[place + 1 :], **kwargs)

        return wrong

    return make


def schema_where(document: str, *path: str | int, holds: Any = None) -> Callable[[Function], Function]:
    """For `blendwright.schemas.published:schema`: that of this document has another value at the path, or none at all."""

    def make(schema: Function) -> Function:
        def wrong(name: str) -> dict[str, Any]:
            found = schema(name)
            if name != document:
                return found
            changed = copy.deepcopy(found)
            inner: Any = changed
            for key in path[:-1]:
                inner = inner[key]
            if holds is None:
                del inner[path[-1]]
            else:
                inner[path[-1]] = holds
            return changed

        return wrong

    return make


def without_objection(rule: str) -> Callable[[Function], Function]:
    """For `blendwright.policy.objections:_lines`: the line of the list that has this rule is not asked."""
    return changing(lambda lines: tuple(line for line in lines if rule not in line.rules))
