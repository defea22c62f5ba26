"""Nothing that a datablock holds is left out of its hash without a reason, whichever Blender it is.

Types and their parts are found from what RNA says, not from what the fingerprint reads. Then every property that can be written is
written, in a scene with one of nearly everything: the hash of its datablock has to move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import bpy
import pytest
import scene_parts as parts

from blendwright.blender import fingerprint
from blendwright.blender.fingerprint import exclusions
from blendwright.blender.fingerprint.content_readers import READERS
from blendwright.blender.fingerprint.type_layouts import bases, hashed_properties, reasons_to_leave_out

types: Any = bpy.types
data: Any = bpy.data


def datablock_types() -> list[Any]:
    """The types of bpy.data whose datablocks are hashed, with their subtypes."""
    listed = [prop for prop in types.BlendData.bl_rna.properties if prop.type == "COLLECTION"]
    roots = {prop.fixed_type.identifier for prop in listed if prop.identifier in fingerprint.kinds()}
    return [rna for rna in all_types() if not roots.isdisjoint(bases(rna))]


def all_types() -> list[Any]:
    found = (getattr(getattr(types, name), "bl_rna", None) for name in dir(types))
    return [rna for rna in found if rna is not None]


def reached_types() -> dict[str, Any]:
    """Every type of struct that is part of a datablock: by pointers and lists that have no reason to be left out, subtypes included."""
    subtypes: dict[str, list[Any]] = {}
    for rna in all_types():
        for base in bases(rna)[1:]:
            subtypes.setdefault(base, []).append(rna)
    reached: dict[str, Any] = {}
    waiting = datablock_types()
    while waiting:
        rna = waiting.pop()
        if rna.identifier in reached:
            continue
        reached[rna.identifier] = rna
        reasons = reasons_to_leave_out(rna)
        for prop in rna.properties:
            read_elsewhere = reasons.get(prop.identifier, exclusions.READER) == exclusions.READER
            if prop.type in ("POINTER", "COLLECTION") and read_elsewhere:
                target = prop.fixed_type
                if bases(target)[-1] != "ID":
                    waiting += [target, *subtypes.get(target.identifier, ())]
    return reached


# Structs without a value of their own, and why that is right.
EMPTY_STRUCTS = {
    "MovieTrackingDopesheet": "says how a list of tracks is sorted and shown",
    "UnknownType": "what RNA says of a type that it does not know",
    "NodesModifierProperties": "its parts are made of the node group; the modifier's reader has them",
    "SequencerCompositorModifierProperties": "its parts are made of the node group; the modifier's reader has them",
}


def test_every_struct_that_is_reached_is_read() -> None:
    """A struct of which nothing is read would hide whatever Blender puts into it at run time."""
    abstract = {rna.base.identifier for rna in all_types() if rna.base is not None}
    empty = {
        name
        for name, rna in reached_types().items()
        if name not in abstract and not hashed_properties(rna) and READERS.keys().isdisjoint(bases(rna))
    }
    assert empty - EMPTY_STRUCTS.keys() == set()


def test_what_is_left_to_a_reader_has_one() -> None:
    listed = {name for name, reasons in exclusions.EXCLUDED.items() if exclusions.READER in reasons.values()}
    readers = READERS.keys() | READ_WITH_THEIR_OWNER
    assert {name for name in listed if hasattr(types, name)} - readers == set()


# Left to the reader of the struct that holds them.
READ_WITH_THEIR_OWNER = {"LatticePoint", "Pose"}


# ---------------------------------------------------------------------- every property is written

# (type, property) -> why writing it need not move the hash in this scene.
UNMOVED = {
    ("BoolAttributeValue", "value"): "the first ones are selections",
    ("CollectionLightLinking", "link_state"): "the first ones are of a scene's own collection, which links no lights",
    ("FieldSettings", "seed"): "without a force it does nothing",
    **{
        (f"GeometryNodesInterface{part}", "name"): "a name that no list shows and nothing goes by"
        for part in ("Inputs", "Outputs", "Panels")
    },
    ("NodeLink", "is_valid"): "worked out by Blender",
    ("ParticleSettings", "trail_count"): "0 and 1 are the same",
}
# Of a list so many items, and of a property so many places, are looked at.
MOST_ITEMS, MOST_TRIALS = 400, 8
# Writing these does more than changing a value.
NOT_WRITTEN = {("Modifier", "use_pin_to_last"): "moves the modifier, and all others up"}
EMBEDDED = ("node_tree", "collection")
# So many are found in every Blender; with far fewer the scene has lost something.
LEAST_MOVED = 2000


class Site(NamedTuple):
    """A property of a struct in the scene. The struct goes by its path: a write may move others in memory."""

    block: Any
    path: tuple[str | int, ...]
    type: str
    name: str

    def find(self) -> Any:
        """The struct, unless an earlier write has put another one in its place."""
        struct = self.block
        for part in self.path:
            if isinstance(part, int) and part >= len(struct):
                return None
            struct = struct[part] if isinstance(part, int) else getattr(struct, part, None)
            if struct is None:
                return None
        return struct if struct.bl_rna.identifier == self.type and self.name in struct.bl_rna.properties else None


def sites() -> Iterator[Site]:
    """Every property of the scene that can be written and has no reason to stay out."""
    for _, block in fingerprint.all_blocks():
        yield from _sites(block, block, (), set())


def _sites(block: Any, struct: Any, path: tuple[str | int, ...], visited: set[tuple[int, str]]) -> Iterator[Site]:
    rna = struct.bl_rna
    identity = (struct.as_pointer(), rna.identifier)
    if identity in visited:
        return
    visited.add(identity)
    reasons = reasons_to_leave_out(rna)
    made_of_group = not hasattr(types, rna.identifier)
    for prop in rna.properties:
        name: str = prop.identifier
        if reasons.get(name, exclusions.READER) != exclusions.READER and not (made_of_group and prop.is_runtime):
            continue
        if prop.type == "POINTER":
            value = getattr(struct, name)
            if value is not None and _is_part(name, value, struct):
                yield from _sites(block, value, (*path, name), visited)
        elif prop.type == "COLLECTION":
            if bases(prop.fixed_type)[-1] != "ID":
                for index, item in enumerate(getattr(struct, name)[:MOST_ITEMS]):
                    if item is not None:
                        yield from _sites(block, item, (*path, name, index), visited)
        elif not prop.is_readonly:
            yield Site(block, path, rna.identifier, name)


def _is_part(name: str, value: Any, owner: Any) -> bool:
    if isinstance(value, types.ID):  # a driver may refer to a part of another datablock
        return bool(value.is_embedded_data) and name in EMBEDDED
    return value.id_data == owner.id_data and exclusions.REFERENCED_STRUCTS.isdisjoint(bases(value.bl_rna))


def others(prop: Any, value: Any) -> Iterator[Any]:
    """Values that a property does not have now."""
    if prop.type == "ENUM" and not prop.is_enum_flag:
        yield from (item.identifier for item in prop.enum_items if item.identifier != value)
    elif prop.type == "ENUM":
        yield from (set(value) ^ {item.identifier} for item in prop.enum_items)
    elif prop.type == "STRING":
        yield f"{value}x"
    elif getattr(prop, "is_array", False):
        if value and not hasattr(value[0], "__len__"):  # matrices follow other values, mostly
            for number in numbers(prop, value[0]):
                yield [number, *value[1:]]
    else:
        yield from numbers(prop, value)


def numbers(prop: Any, value: Any) -> Iterator[Any]:
    if prop.type == "BOOLEAN":
        yield not value
        return
    step = 1 if prop.type == "INT" else 0.125
    yield from (number for number in (value + step, value - step) if prop.hard_min <= number <= prop.hard_max)


def plain(value: Any) -> Any:
    is_vector = hasattr(value, "__len__") and not isinstance(value, str) and not hasattr(value, "union")
    return [*value] if is_vector else value


@pytest.mark.slow
def test_every_property_that_can_be_written_moves_the_hash() -> None:
    parts.empty_scene()
    parts.zoo()
    parts.context.view_layer.update()
    moved: set[tuple[str, str]] = set()
    still: Counter[tuple[str, str]] = Counter()
    for site in list(sites()):
        key = (_declared_by(site), site.name)
        if key in moved or still[key] >= MOST_TRIALS or key in NOT_WRITTEN:
            continue
        outcome = write(site)
        if outcome:
            moved.add(key)
        elif outcome is False:
            still[key] += 1
    unexplained = {key for key in still if key not in moved and key not in UNMOVED}
    assert unexplained == set()
    assert len(moved) > LEAST_MOVED
    # Inputs of a modifier are structs that Blender makes of its node group.
    assert ("Socket_1", "value") in moved or bpy.app.version < (5, 2, 0)


def _declared_by(site: Site) -> str:
    """The most general type that has the property."""
    rna = getattr(types, site.type).bl_rna if hasattr(types, site.type) else None
    declared = site.type
    while rna is not None and site.name in rna.properties:
        declared, rna = rna.identifier, rna.base
    return declared


def write(site: Site) -> bool | None:
    """Whether writing another value moves the hash; None where Blender takes none."""
    struct = site.find()
    if struct is None:
        return None
    prop = struct.bl_rna.properties[site.name]
    before = plain(getattr(struct, site.name))
    leaf = fingerprint.leaf(site.block)
    for value in others(prop, before):
        if not assign(site, value) or plain(getattr(site.find(), site.name)) == before:
            continue
        changed = fingerprint.leaf(site.block) != leaf
        assign(site, before)
        return changed
    return None


def assign(site: Site, value: Any) -> bool:
    struct = site.find()
    if struct is None:
        return False
    try:
        setattr(struct, site.name, value)
    except (TypeError, AttributeError, RuntimeError, ValueError):
        return False
    return site.find() is not None
