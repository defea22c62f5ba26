"""The inputs of a geometry-nodes modifier, saved before its node group or the group's interface changes, and restored afterwards.

Up to Blender 5.1 the inputs are custom properties of the modifier. From 5.2 on they are structs, whose types Blender derives from
the group's interface. Only inputs that still exist are restored."""

from collections.abc import Callable, Iterator
from typing import Any

from blendwright.blender.scene.tracking.preimage import Resolve, Thaw, freeze, freeze_item, put_item

# Members of `modifier.properties` that hold values. The third one, `panels`, only stores which panels are open.
SIDES = ("inputs", "outputs")


def saved(modifier: Any, resolve: Resolve) -> Callable[[Any], None]:
    """Save the current inputs of a modifier and return a function that writes them to a given modifier.

    The returned function takes the modifier as an argument, since Blender may have moved it in memory by then."""
    if "properties" in modifier.bl_rna.properties:
        return _saved_structs(modifier, resolve)
    items = {key: freeze_item(modifier[key], resolve) for key in modifier.keys()}  # noqa: SIM118 - no mapping

    def put_back(target: Any) -> None:
        for key in target.keys() - items.keys():
            del target[key]
        for key, thaw in items.items():
            put_item(target, key, thaw())

    return put_back


def _saved_structs(modifier: Any, resolve: Resolve) -> Callable[[Any], None]:
    values: list[tuple[str, str, str, Thaw]] = []
    for side, identifier, struct in _structs(modifier):
        for name in _names(struct):
            values.append((side, identifier, name, freeze(_read(struct, name), resolve)))

    def put_back(target: Any) -> None:
        _remove_stale_inputs(target)
        present = {(side, identifier): struct for side, identifier, struct in _structs(target)}
        for side, identifier, name, thaw in values:
            struct = present.get((side, identifier))
            if struct is not None and name in struct.bl_rna.properties:
                _write(struct, name, thaw())

    return put_back


def _remove_stale_inputs(modifier: Any) -> None:
    """Remove stored values of inputs that the current group lacks: a later group might have an input with the same name."""
    if modifier.properties is None:
        return
    for side in SIDES:
        current = getattr(modifier.properties, side).bl_rna.properties
        stored = modifier.properties.bl_system_properties_get()[side]
        for name in list(stored.keys()):
            if name not in current:
                del stored[name]


def _structs(modifier: Any) -> Iterator[tuple[str, str, Any]]:
    if modifier.properties is None:  # The modifier has no node group.
        return
    for side in SIDES:
        structs = getattr(modifier.properties, side)
        for prop in structs.bl_rna.properties:
            if prop.is_runtime:
                yield side, prop.identifier, getattr(structs, prop.identifier)


def _names(struct: Any) -> list[str]:
    return [prop.identifier for prop in struct.bl_rna.properties if prop.is_runtime]


def _read(struct: Any, name: str) -> Any:
    # A menu without items has no valid identifier, but it still has a number.
    if struct.bl_rna.properties[name].type == "ENUM":
        return struct[name]
    return getattr(struct, name)


def _write(struct: Any, name: str, value: Any) -> None:
    if struct.bl_rna.properties[name].type == "ENUM":
        struct[name] = value
    else:
        setattr(struct, name, value)
