"""The inputs of a geometry-nodes modifier as they are now, to be put back after its group or the group's interface changed.

Up to Blender 5.1 they are custom properties of the modifier. From 5.2 on they are structs of types that Blender makes of the
group's interface: what is put back is what is still there."""

from collections.abc import Callable, Iterator
from typing import Any

from blendwright.blender.scene.tracking.preimage import Resolve, Thaw, freeze, freeze_item, put_item

# `panels` says which ones are open.
SIDES = ("inputs", "outputs")


def saved(modifier: Any, resolve: Resolve) -> Callable[[Any], None]:
    """A function that gives the modifier, wherever it is by then, what it has now."""
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
    values: list[tuple[str, str, str, Thaw]] = [
        (side, identifier, name, freeze(_read(struct, name), resolve))
        for side, identifier, struct in _structs(modifier)
        for name in _names(struct)
    ]

    def put_back(target: Any) -> None:
        _forget_others(target)
        present = {(side, identifier): struct for side, identifier, struct in _structs(target)}
        for side, identifier, name, thaw in values:
            struct = present.get((side, identifier))
            if struct is not None and name in struct.bl_rna.properties:
                _write(struct, name, thaw())

    return put_back


def _forget_others(modifier: Any) -> None:
    """Remove what is stored for inputs that the group has not: another group might have one of the same name later."""
    if modifier.properties is None:
        return
    for side in SIDES:
        known = getattr(modifier.properties, side).bl_rna.properties
        stored = modifier.properties.bl_system_properties_get()[side]
        for name in [name for name in stored.keys() if name not in known]:  # noqa: SIM118 - no mapping
            del stored[name]


def _structs(modifier: Any) -> Iterator[tuple[str, str, Any]]:
    if modifier.properties is None:  # without a group
        return
    for side in SIDES:
        structs = getattr(modifier.properties, side)
        for prop in structs.bl_rna.properties:
            if prop.is_runtime:
                yield side, prop.identifier, getattr(structs, prop.identifier)


def _names(struct: Any) -> list[str]:
    return [prop.identifier for prop in struct.bl_rna.properties if prop.is_runtime]


def _read(struct: Any, name: str) -> Any:
    # A menu without items has no valid value; its number is there all the same.
    if struct.bl_rna.properties[name].type == "ENUM":
        return struct[name]
    return getattr(struct, name)


def _write(struct: Any, name: str, value: Any) -> None:
    if struct.bl_rna.properties[name].type == "ENUM":
        struct[name] = value
    else:
        setattr(struct, name, value)
