"""Writing and reading of the lists of a node: items of zones, switches and captures, colour ramp stops, curve points.

Writing changes a list in place: an item whose name stays keeps its identifier and therefore its links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from blendwright.tool_api.scene import Block
from blendwright.tools.checks import same
from blendwright.tools.node_trees.values import invalid, refused_by_blender, to_json

# Properties that Blender shows on an item but does not store.
NOT_STORED = frozenset({"rna_type", "color", "identifier", "select"})
# The class names of structs with lists. `alpha` of a stop is the fourth number of its `color`, so it is not a field here.
RAMP, CURVES = "ColorRamp", "CurveMapping"
STOP_FIELDS, POINT_FIELDS = ("position", "color"), ("location", "handle_type")
MAX_ITEMS = 1000
# Names of data types for which a list's `new` expects the name of the socket type instead.
SOCKET_TYPES = {"FLOAT_VECTOR": "VECTOR", "FLOAT_COLOR": "RGBA", "QUATERNION": "ROTATION", "FLOAT4X4": "MATRIX"}


def fields_of(holder: Block, name: str) -> list[str]:
    """Return the writable fields that an item of a list has. The list may be empty."""
    rna = holder.bl_rna.properties[name].fixed_type
    return [
        field.identifier for field in rna.properties if field.identifier not in NOT_STORED and not field.is_readonly
    ]


def read_items(holder: Block, name: str) -> list[dict[str, Any]]:
    return [_fields(item, fields_of(holder, name)) for item in getattr(holder, name)]


def write_items(holder: Block, name: str, value: Any, at: str) -> None:
    """Change a list of items to the requested ones. Raise StepError if a request is invalid or Blender changes a value."""
    items = getattr(holder, name)
    fields = fields_of(holder, name)
    requested = list(_requested_items(value, fields, at))
    if "name" in fields:
        _match_names(items, requested, at)
    else:
        while len(items) > len(requested):
            items.remove(items[len(items) - 1])
        while len(items) < len(requested):
            _add(items, requested[len(items)], f"{at}/{len(items)}")
    for number, request in enumerate(requested):
        for field, part in request.items():
            _set(items[number], field, part, f"{at}/{number}/{field}")
    for number, request in enumerate(requested):
        for field, part in request.items():
            actual = to_json(getattr(items[number], field))
            if not same(part, actual):
                raise invalid(f"Blender stored {actual!r} instead of {part!r}", f"{at}/{number}/{field}")


def _match_names(items: Block, requested: Sequence[Mapping[str, Any]], at: str) -> None:
    """Keep, add, remove and reorder items so that their names are the requested ones."""
    names = [str(request.get("name", "Item")) for request in requested]
    for number, name in enumerate(names):
        if name in names[:number]:
            message = f"two items are called '{name}'"
            pointer = f"{at}/{number}/name"
            raise invalid(message, pointer, "Give each item of the list a different name.")
    for index in reversed(range(len(items))):
        if items[index].name not in names:
            items.remove(items[index])
    for number, name in enumerate(names):
        existing = [item.name for item in items]
        if name not in existing:
            _add(items, requested[number], f"{at}/{number}")
            existing = [item.name for item in items]
        if name in existing and existing.index(name) != number:
            items.move(existing.index(name), number)


def _requested_items(value: Any, fields: Sequence[str], at: str) -> Iterator[dict[str, Any]]:
    if not isinstance(value, list) or len(cast("list[Any]", value)) > MAX_ITEMS:
        raise invalid(f"the value must be a list of at most {MAX_ITEMS} items", at, "Give a list of objects.")
    for number, item in enumerate(cast("list[Any]", value)):
        if isinstance(item, str):
            entry = {"name": item}
        else:
            entry = item
        if not isinstance(entry, dict):
            raise invalid("an item must be an object", f"{at}/{number}")
        item_fields = cast("dict[str, Any]", entry)
        for field in item_fields:
            if field not in fields:
                known_fields = ", ".join(fields) or "none"
                cure = f"Known fields: {known_fields}."
                raise invalid(f"an item has no field '{field}'", f"{at}/{number}/{field}", cure)
        yield item_fields


def _add(items: Block, request: Mapping[str, Any], at: str) -> None:
    all_parameters = items.bl_rna.functions["new"].parameters
    parameters = [parameter.identifier for parameter in all_parameters if not parameter.is_output]
    type_name = request.get("socket_type") or request.get("data_type")
    try:
        if "socket_type" in parameters:
            kind = type_name or "FLOAT"
            items.new(SOCKET_TYPES.get(kind, kind), request.get("name", "Item"))
        elif "name" in parameters:
            items.new(request.get("name", "Item"))
        else:
            items.new()
    except (TypeError, RuntimeError) as error:
        raise refused_by_blender(f"no item of type {type_name!r} can be added", error, at) from error


def _set(item: Block, field: str, value: Any, at: str) -> None:
    if to_json(getattr(item, field)) == value:
        return
    try:
        setattr(item, field, value)
    except (TypeError, ValueError, AttributeError) as error:
        raise refused_by_blender(f"'{field}' does not accept {value!r}", error, at) from error


# ---------------------------------------------------------------------- colour ramps and curves


def read_struct(struct: Block) -> dict[str, Any]:
    """Return a struct of a node: its plain fields, and the stops of a colour ramp or the points of curves."""
    values = _fields(struct, _plain_fields(struct))
    kind = struct.bl_rna.identifier
    if kind == RAMP:
        values["elements"] = [_fields(stop, STOP_FIELDS) for stop in struct.elements]
    elif kind == CURVES:
        curves: list[list[dict[str, Any]]] = []
        for curve in struct.curves:
            curves.append([_fields(point, POINT_FIELDS) for point in curve.points])
        values["curves"] = curves
    return values


def write_struct(struct: Block, value: Any, at: str) -> None:
    if not isinstance(value, dict):
        raise invalid("the value must be an object", at)
    kind = struct.bl_rna.identifier
    fields = _plain_fields(struct)
    for name, part in cast("dict[str, Any]", value).items():
        pointer = f"{at}/{name}"
        if kind == RAMP and name == "elements":
            _write_rows(struct.elements, part, STOP_FIELDS, pointer)
        elif kind == CURVES and name == "curves":
            _write_curves(struct, part, pointer)
        elif name in fields:
            _set(struct, name, part, pointer)
        else:
            lists = {RAMP: ["elements"], CURVES: ["curves"]}.get(kind, [])
            names = ", ".join(fields + lists)
            raise invalid(f"unknown field '{name}'", pointer, f"Known fields: {names}.")
    if kind == CURVES:
        struct.update()


def _plain_fields(struct: Block) -> list[str]:
    return [
        field.identifier
        for field in struct.bl_rna.properties
        if not field.is_readonly and field.type not in ("POINTER", "COLLECTION")
    ]


def _fields(row: Block, names: Sequence[str]) -> dict[str, Any]:
    return {name: to_json(getattr(row, name)) for name in names}


def _write_curves(mapping: Block, value: Any, at: str) -> None:
    curves = list(mapping.curves)
    if not isinstance(value, list) or len(cast("list[Any]", value)) != len(curves):
        raise invalid(f"the value must be a list of {len(curves)} curves", at, f"Give {len(curves)} lists of points.")
    for number, points in enumerate(cast("list[Any]", value)):
        _write_rows(curves[number].points, points, POINT_FIELDS, f"{at}/{number}")


def _write_rows(rows: Block, value: Any, fields: Sequence[str], at: str) -> None:
    """Change stops or points to the requested ones. Blender keeps them sorted by position."""
    if not isinstance(value, list) or not value:
        raise invalid("the value must be a list of objects with at least one entry", at)
    requested = cast("list[dict[str, Any]]", value)
    for number, row in enumerate(requested):
        if fields[0] not in row or set(row) - set(fields):
            message = f"each entry needs '{fields[0]}' and may have '{fields[1]}', and no other field"
            raise invalid(message, f"{at}/{number}")
    try:
        while len(rows) > len(requested):
            rows.remove(rows[len(rows) - 1])
        while len(rows) < len(requested):
            position = requested[len(rows)][fields[0]]
            if not isinstance(position, list):
                position = [position]
            rows.new(*position)
        for number, row in enumerate(requested):
            for name, part in row.items():
                setattr(rows[number], name, part)
    except (TypeError, ValueError, RuntimeError) as error:
        raise refused_by_blender("Blender does not accept these stops or points", error, at) from error
