"""Checks of JSON from the other side of the wire against a TypedDict: its keys, and the type of each value.

A worker that runs hostile files may send anything, so an answer with a wrong shape is not read further. Every step
passes these checks. They are built once from the annotations, and take about as long as reading the JSON.
"""

from collections.abc import Callable, Collection, Mapping
from types import NoneType, UnionType
from typing import Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

Check = Callable[[Any], bool]

# Python reads a JSON number without a fraction as an int, so a float field accepts both types.
NUMBER = (float, int)


def shape(record: type, *, without: Collection[str] = (), is_sound: Check | None = None) -> Check:
    """Return a check that a value has exactly the keys of a TypedDict, each with a value of its type.

    `without` names keys to exclude. `is_sound` checks the values of a record with the right shape against each other.
    """
    hints = {name: hint for name, hint in get_type_hints(record, include_extras=True).items() if name not in without}
    # If the annotations of the record are strings, `__required_keys__` also contains keys that are not required.
    optional = {name: get_args(hint)[0] for name, hint in hints.items() if get_origin(hint) is NotRequired}
    required = hints.keys() - optional.keys()

    types: dict[str, frozenset[type]] = {}
    inner: list[tuple[str, Check]] = []
    for name, hint in (hints | optional).items():
        types[name] = frozenset(_json_types(hint))
        inner_check = _inner_check(hint)
        if inner_check is not None:
            inner.append((name, inner_check))

    def fits(value: Any) -> bool:
        try:
            if value.__class__ is not dict:
                return False
            for name, part in value.items():
                if part.__class__ not in types[name]:
                    return False
            if len(value) != len(types) and not required <= value.keys():
                return False
            for name, check in inner:
                part = value.get(name)
                if part and not check(part):
                    return False
            return is_sound is None or is_sound(value)
        except (KeyError, TypeError):
            return False

    return fits


def _json_types(annotation: Any) -> tuple[type, ...]:
    """Return the Python types of parsed JSON that fit this annotation."""
    if get_origin(annotation) is UnionType:
        types: list[type] = []
        for part in get_args(annotation):
            types += _json_types(part)
        return tuple(types)
    if annotation is float:
        return NUMBER
    if is_typeddict(annotation) or get_origin(annotation) in (dict, Mapping):
        return (dict,)
    if get_origin(annotation) is list:
        return (list,)
    if annotation in (str, int, bool, NoneType):
        return (annotation,)
    raise TypeError(f"{annotation} has no JSON type")


def _inner_check(annotation: Any) -> Check | None:
    """Return a check of the content of a list or an object, or None if there is nothing to check."""
    if is_typeddict(annotation):
        return shape(annotation)
    parts = get_args(annotation)
    if get_origin(annotation) is UnionType:
        return next(filter(None, map(_inner_check, parts)), None)
    if get_origin(annotation) is list:
        return _items_check(parts[0])
    if get_origin(annotation) in (dict, Mapping):
        if parts[1] is not Any:
            values = _items_check(parts[1])
        else:
            values = None
        if values is None:
            return None
        return lambda value: values(value.values())
    return None


def _items_check(annotation: Any) -> Check:
    """Return a check of all items of a collection. It may raise TypeError for items of another type."""
    if annotation is str:
        return _are_texts
    if annotation == list[str]:
        return _are_lists_of_texts
    types = frozenset(_json_types(annotation))
    check = _inner_check(annotation)
    if check is None:
        return lambda values: set(map(type, values)) <= types
    return lambda values: set(map(type, values)) <= types and all(map(check, values))


def _are_texts(values: Any) -> bool:
    "".join(values)  # the fastest check that all values are strings: it raises TypeError otherwise
    return True


def _are_lists_of_texts(values: Any) -> bool:
    for value in values:
        if value.__class__ is not list:
            return False
        "".join(value)
    return True
