"""`@frozen`: a dataclass with slots whose instances never change: what `dataclass(frozen=True, slots=True)` makes, in a third of its time.

There are hundreds of such classes, and every command, server and worker makes those that it loads. The standard decorator writes and
compiles six functions for each of them, of which five differ in the names of the fields only. These five are here, once, and only
`__init__` is compiled. Fields, defaults and slots are the standard library's, and so are `fields`, `replace` and `asdict`.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, cast, dataclass_transform

C = TypeVar("C", bound=type)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: C) -> C:
    """Make a frozen dataclass with slots of a class."""
    own = set(vars(cls))
    if cls.__doc__ is None:
        cls.__doc__ = ""  # a signature would be worked out for those without a docstring
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cast(Any, cls))
    every = fields(made)
    compared = [one.name for one in every if one.compare]
    made.__frozen_values__ = attrgetter(*compared) if compared else staticmethod(_nothing)
    for name, method in {"__init__": _initialiser(made, every), **_SHARED}.items():
        if name not in own:
            setattr(made, name, method)
    return made


def _initialiser(cls: type, every: tuple[Field[Any], ...]) -> Any:
    """`__init__`, as the standard library writes it, but for its assignments: a slot sets its value in half of the time that
    `object.__setattr__` takes to find it."""
    names: dict[str, Any] = {"_MISSING": MISSING}
    positional: list[str] = []
    by_keyword: list[str] = []
    lines: list[str] = []
    for one in every:
        name, parameter, value = one.name, one.name, one.name
        if one.default_factory is not MISSING:
            names[f"_make_{name}"] = one.default_factory
            parameter = f"{name}=_MISSING"
            value = f"_make_{name}() if {name} is _MISSING else {name}" if one.init else f"_make_{name}()"
        elif one.default is not MISSING:
            names[f"_default_{name}"] = one.default
            parameter = f"{name}=_default_{name}"
            value = name if one.init else f"_default_{name}"
        elif not one.init:
            continue  # __post_init__ sets it
        if one.init:
            (by_keyword if one.kw_only else positional).append(parameter)
        names[f"_set_{name}"] = getattr(cls, name).__set__
        lines.append(f" _set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    head = ", ".join(["self", *positional, *(["*", *by_keyword] if by_keyword else [])])
    exec("\n".join([f"def __init__({head}):", *(lines or [" pass"])]), names)
    made = names["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {one.name: one.type for one in every if one.init} | {"return": None}
    return made


def _nothing(instance: object) -> tuple[()]:
    return ()


def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: Any) -> bool:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self is other or self.__frozen_values__(self) == self.__frozen_values__(other)


def _hash(self: Any) -> int:
    return hash(self.__frozen_values__(self))


def _setattr(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


_SHARED: dict[str, Any] = {
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}
