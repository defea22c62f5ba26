"""The canonical walk over one datablock: RNA values in a fixed order, as plain Python values.

Responsible for: reading a struct by its plan and going down into its parts. What needs more than the plan (nodes, mesh
data, poses ...) is in the readers of `special.py`. Must never write: no property is read whose getter creates data.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from blendwright.blender.fingerprint.animation import Channels, animated_channels, is_empty
from blendwright.blender.fingerprint.attributes import blob, encode_attributes
from blendwright.blender.fingerprint.floats import fold_all, fold_array
from blendwright.blender.fingerprint.identity import key_of
from blendwright.blender.fingerprint.paths import canonical_path
from blendwright.blender.fingerprint.plans import (
    ANIMATION,
    ANY_BLOCK,
    BLOCK,
    BLOCKS,
    BULK,
    NAMED,
    NAMES,
    OWNED_BLOCK,
    STRUCT,
    STRUCTS,
    Plan,
    bases,
    bulk_columns,
)
from blendwright.blender.fingerprint.properties import custom, system

# The deepest chain of parts in Blender 5.0 has 7 links. A pointer that leads back up must become a reference in
# `skips.py`; a hash that silently stopped somewhere would be worse than an error.
_DEEPEST = 24
# What Blender notes of an asset whenever it saves: the size of an object, the sockets of a node group, whether an action is a pose.
_WRITTEN_ON_SAVE = frozenset({"dimensions", "type", "inputs", "outputs", "is_single_frame"})

Out = list[Any]
Special = Callable[["Walk", Any, Out], None]


class Walk:
    """Reads structs into `out`, leaving animated channels blank."""

    # RNA type -> what to read besides the plan; filled by `special.py`.
    specials: dict[str, Special] = {}
    # RNA type -> properties that are read as rows instead; filled by `leaves.py`.
    in_rows: dict[str, frozenset[str]] = {}
    _plans: dict[type, tuple[Plan, tuple[Special, ...]]] = {}

    def __init__(self, channels: Channels, grouped: dict[Any, bool] | None = None) -> None:
        self.channels = channels
        # Mesh -> whether it has vertex groups, as far as known beforehand.
        self.grouped = grouped
        self._depth = 0

    def planned(self, struct: Any) -> tuple[Plan, tuple[Special, ...]]:
        cls = struct.__class__
        found = self._plans.get(cls)
        if found is None:
            rna = struct.bl_rna
            specials = tuple(self.specials[name] for name in reversed(bases(rna)) if name in self.specials)
            plan = Plan(rna, struct, self.in_rows.get(rna.identifier, frozenset()))
            plan.plain = plan.plain and not specials
            found = self._plans[cls] = (plan, specials)
        return found

    def struct(self, struct: Any, out: Out) -> None:
        """All of a struct: its type, its values, its parts, its custom properties."""
        plan, specials = self._plans.get(struct.__class__) or self.planned(struct)
        out.append(plan.name)
        channels = self.channels.get((struct.as_pointer(), plan.name)) if self.channels else None
        if channels:
            self._values(plan, struct, channels, out)
        else:
            if plan.scalars:
                out.append(plan.scalars(struct))
            if plan.floats:
                out.append(fold_all(plan.floats(struct)))
            if plan.vectors:
                # A slice is read in one piece.
                for value, depth in zip(plan.vectors(struct), plan.vector_depths, strict=False):
                    out.append(fold_all(value[:]) if depth == 1 else _vector(value, depth))
        if plan.plain:
            return
        for name in plan.flags:
            out.append(sorted(getattr(struct, name)))
        for name in plan.paths:
            out.append(canonical_path(getattr(struct, name), struct.id_data))
        if plan.parts:
            # Only what is there, each under its number: an absent part and an empty list are alike.
            number = -1
            for value in plan.parts(struct):
                number += 1
                if value:
                    kind = plan.part_kinds[number]
                    if kind == STRUCT:
                        out.append(number)
                        self.inner(value, out)
                    elif kind < ANIMATION or _counts(value, kind):
                        out.append(number)
                        self._part(value, kind, out)
        if plan.custom:
            self.properties(struct, plan, channels, out)
        for special in specials:
            special(self, struct, out)

    def values(self, struct: Any, out: Out) -> None:
        """The values of a struct without its parts."""
        plan, _ = self.planned(struct)
        self._values(plan, struct, self.channels.get((struct.as_pointer(), plan.name), {}), out)

    def _values(self, plan: Plan, struct: Any, channels: dict[str, set[int]], out: Out) -> None:
        if plan.scalars:
            values = plan.scalars(struct)
            out.append([None if n in channels else v for n, v in zip(plan.scalar_names, values, strict=True)])
        if plan.floats:
            values = fold_all(plan.floats(struct))
            out.append([None if n in channels else v for n, v in zip(plan.float_names, values, strict=True)])
        if plan.vectors:
            for name, value, depth in zip(plan.vector_names, plan.vectors(struct), plan.vector_depths, strict=True):
                left_out = channels.get(name, ())
                out.append([None if i in left_out else v for i, v in enumerate(_vector(value, depth))])

    def properties(self, struct: Any, plan: Plan, channels: dict[str, set[int]] | None, out: Out) -> None:
        own = custom(struct, plan.runtime, plan.system) if struct.keys() else None
        if plan.system:
            group = struct.bl_system_properties_get()
            added = None if group is None else system(group, struct.bl_rna, plan.runtime)
        else:
            added = system(struct, struct.bl_rna, plan.runtime) if plan.runtime else None
        if own and plan.name == "AssetMetaData":
            own = [item for item in own if item[0] not in _WRITTEN_ON_SAVE]
        if channels:
            own = own and [(name, _blanked(value, channels.get(f'["{name}"]')), *shown) for name, value, *shown in own]
            added = added and _without(added, "", channels)
        if own or added:
            out.append(("properties", own, added))

    def _part(self, value: Any, kind: int, out: Out) -> None:
        if kind in (BLOCK, ANY_BLOCK):
            out.append(key_of(value))
        elif kind in (STRUCT, ANIMATION):
            self.inner(value, out)
        elif kind == STRUCTS:
            self.structs(value, out)
        elif kind == BULK:
            self.bulk(value, out)
        elif kind == NAMED:
            out.append(reference(value))
        elif kind == OWNED_BLOCK:
            if value.is_embedded_data:
                self.embedded(value, out)
            else:
                out.append(key_of(value))
        elif kind == BLOCKS:
            out.append([None if block is None else key_of(block) for block in value])
        elif kind == NAMES:
            out.append([reference(item) for item in value])
        else:
            encode_attributes(value, out)

    def inner(self, struct: Any, out: Out) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise RecursionError(f"the parts of {struct.bl_rna.identifier} lead back to their owner")
        self.struct(struct, out)
        self._depth -= 1

    def inner_but(self, struct: Any, names: tuple[str, ...], out: Out) -> None:
        """A part without values that evaluation writes, as it writes animated channels."""
        outer = self.channels
        place = (struct.as_pointer(), struct.bl_rna.identifier)
        self.channels = {**outer, place: {**outer.get(place, {}), **{name: {0} for name in names}}}
        self.inner(struct, out)
        self.channels = outer

    def structs(self, items: Any, out: Out) -> None:
        """A list of structs, in its order."""
        out.append(len(items))
        for item in items:
            if item is None:
                out.append(None)
            else:
                self.inner(item, out)

    def unordered(self, items: Any, out: Out) -> None:
        """A list of structs whose order means nothing."""
        found: list[tuple[str, Out]] = []
        for item in items:
            inner: Out = []
            self.inner(item, inner)
            found.append((repr(inner), inner))
        found.sort(key=lambda pair: pair[0])
        out.append([inner for _, inner in found])

    def embedded(self, block: Any, out: Out) -> None:
        """A datablock that is part of another one, with its own animation."""
        outer = self.channels
        if getattr(block, "animation_data", None) is not None:
            self.channels = {**outer, **animated_channels(block)}
        self.inner(block, out)
        self.channels = outer

    def bulk(self, items: Any, out: Out) -> None:
        """A list of structs that hold numbers only, column by column."""
        first = items[0]
        type_name: str = first.bl_rna.identifier
        if any(owner == type_name for _, owner in self.channels):
            self.structs(items, out)
            return
        out.append(type_name)
        for name, width, dtype in bulk_columns(type_name) or ():
            column = np.empty(len(items) * width, dtype)
            items.foreach_get(name, column)
            out.append(blob(fold_array(column) if dtype == "<f4" else column))


def _counts(value: Any, kind: int) -> bool:
    """Whether a part is as good as absent: Blender forgets pointers to a part of another datablock when it saves."""
    return not (is_empty(value) if kind == ANIMATION else value.is_embedded_data)


def reference(struct: Any) -> str | None:
    """A struct that lives in a named list elsewhere."""
    found = getattr(struct, "identifier", None) or getattr(struct, "name", None)
    return found if isinstance(found, str) else None


def _vector(value: Any, depth: int) -> tuple[float, ...]:
    for _ in range(depth - 1):
        value = [inner for outer in value for inner in outer]
    return fold_all(value)


def _blanked(value: Any, indices: set[int] | None) -> Any:
    """A custom property without what is animated of it: all, or some elements."""
    if indices is None:
        return value
    if isinstance(value, list):
        return [None if i in indices else element for i, element in enumerate(cast("list[Any]", value))]
    return None


def _without(settings: list[Any], path: str, channels: dict[str, set[int]]) -> list[Any] | None:
    """An add-on's settings without animated ones; those may come and go, as a default counts as absent."""
    found: list[Any] = []
    for name, value in settings:
        place = path + name
        if place in channels:
            continue
        if any(channel.startswith(f"{place}.") for channel in channels):
            inner = _without(value, f"{place}.", channels)
            if inner is not None:
                found.append((name, inner))
        else:
            found.append((name, value))
    return found or None
