"""Plain numbers of a type as one row of bytes per datablock: of all datablocks in bulk, or of one, the same bytes.

The two readers must agree bit by bit. Strings, pointers and lists are read elsewhere.
"""

import struct as packing
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import mathutils
import numpy as np

from blendwright.blender.fingerprint.canonical import fold_all, fold_array, may_need_fold
from blendwright.blender.fingerprint.type_layouts import Getter, getter, hashed_properties, number_column

_UNKNOWN = -1  # an enum value that has no name
_MAX_CACHED_ENUM_ROWS = 1024
# From Blender 5.1, vectors and matrices support the buffer protocol.
_SHOW_MEMORY = hasattr(mathutils.Vector, "__buffer__")
_IDENTITY = [float(row == column) for row in range(4) for column in range(4)]  # matrices of objects are 4x4


class NumberColumns:
    """The row layout of one type: integers, then floats, then flags."""

    def __init__(self, rna: Any) -> None:
        properties = {p.identifier: p for p in hashed_properties(rna)}
        columns = [column for column in map(number_column, properties.values()) if column is not None]
        enums = [n for n, _, _ in columns if properties[n].type == "ENUM"]
        self._enums = [{e.identifier: e.value for e in properties[n].enum_items_static} for n in enums]
        self._enum_cache: dict[tuple[str, ...], list[int]] = {}
        self._named_values = [np.array([*values.values()]) for values in self._enums]
        self._groups: list[_Group] = []
        self.offsets: dict[str, tuple[int, int, int]] = {}
        self.columns: list[tuple[str, int, str]] = []
        offset = 0
        for dtype in ("<i4", "<f4", "?"):
            group = _Group([(n, w) for n, w, d in columns if d == dtype], dtype, properties, enums)
            self._groups.append(group)
            size = np.dtype(dtype).itemsize
            for name, width in group.order:
                self.columns.append((name, width, dtype))
                self.offsets[name] = (offset, size, width)
                offset += width * size
        self.width = offset
        self.names = frozenset(self.offsets)
        integers, floats, _ = self._groups
        self._pack_integers = packing.Struct(f"<{sum(w for _, w in integers.order)}i").pack
        self._float_row = packing.Struct(f"<{sum(w for _, w in floats.order)}f")

    def bulk(self, blocks: Any) -> list[bytes]:
        """Return the rows of a bpy.data collection, in its order."""
        integers = self._groups[0].bulk(blocks)
        floats = self._groups[1].bulk(blocks)
        flags = self._groups[2].bulk(blocks)
        for index, named_values in enumerate(self._named_values):
            column = integers[:, index]
            column[~np.isin(column, named_values)] = _UNKNOWN
        fold_array(floats.reshape(-1))
        count = len(blocks)
        raw = np.concatenate([group.view(np.uint8) for group in (integers, floats, flags)], axis=1).tobytes()
        return [raw[start : start + self.width] for start in range(0, count * self.width, self.width)]

    def one(self, block: Any) -> bytes:
        """Return the row of one datablock. It avoids numpy, whose calls cost more than a row of numbers."""
        return self._integers(block) + self._floats(block) + self._flags(block)

    def several(self, blocks: Sequence[Any]) -> list[bytes]:
        """Return the rows of some of many datablocks. It reads one kind of number for all before the next kind, as `batches.py` does."""
        integers = [*map(self._integers, blocks)]
        floats = [*map(self._floats, blocks)]
        flags = [*map(self._flags, blocks)]
        return [*map(b"".join, zip(integers, floats, flags, strict=True))]

    def _integers(self, block: Any) -> bytes:
        group = self._groups[0]
        names = group.enums(block)
        values = self._enum_cache.get(names) or self._number(names)
        return self._pack_integers(*values, *group.values(block))

    def _floats(self, block: Any) -> bytes:
        group = self._groups[1]
        if _SHOW_MEMORY:
            packed = group.memory(block)
        else:
            packed = self._float_row.pack(*group.values(block))
        if may_need_fold(packed):
            return self._float_row.pack(*fold_all(self._float_row.unpack(packed)))
        return packed

    def _flags(self, block: Any) -> bytes:
        return bytes(self._groups[2].values(block))

    def _number(self, names: tuple[str, ...]) -> list[int]:
        """Return names of enum values as numbers. The result is cached, because most datablocks have the same values."""
        if len(self._enum_cache) >= _MAX_CACHED_ENUM_ROWS:
            self._enum_cache.clear()
        values = [numbers.get(name, _UNKNOWN) for numbers, name in zip(self._enums, names, strict=True)]
        self._enum_cache[names] = values
        return values

    def blanked(self, row: bytes, channels: dict[str, set[int]]) -> bytes:
        """Return a row with zeros in the positions of animated channels."""
        blank = bytearray(row)
        for name, indices in channels.items():
            if name in self.offsets:
                offset, size, width = self.offsets[name]
                # A single number has no index, so ignore the curve's index. An index past the end animates nothing.
                if width == 1:
                    indices = (0,)
                for index in indices:
                    if index < width:
                        start = offset + index * size
                        blank[start : start + size] = bytes(size)
        return bytes(blank)


class _Group:
    """Columns of one number type: enums, scalars, vectors, matrices, in this order."""

    def __init__(
        self, columns: list[tuple[str, int]], dtype: str, properties: dict[str, Any], enums: list[str]
    ) -> None:
        self._dtype = dtype
        widths = dict(columns)
        enum_names = tuple(n for n in widths if n in enums)
        arrays = [n for n in widths if getattr(properties[n], "is_array", False)]
        matrices = [n for n in arrays if properties[n].array_dimensions[1]]
        vectors = tuple(n for n in arrays if n not in matrices)
        scalars = tuple(n for n in widths if n not in arrays and n not in enum_names)
        self.order = [(n, widths[n]) for n in (*enum_names, *scalars, *vectors, *matrices)]
        self._single = len(enum_names) + len(scalars)
        self._enums = getter(enum_names)
        self._scalars = getter(scalars)
        self._vectors: Getter | None = getter(vectors)
        self._matrices = [attrgetter(n) for n in matrices]
        self._pack_scalars = packing.Struct(f"<{len(scalars)}f").pack
        self._arrays = getter((*vectors, *matrices))
        # Indices and packers of the arrays without buffer protocol, determined from the first datablock.
        self._packed: list[tuple[int, Callable[..., bytes]]] | None = None

    def bulk(self, blocks: Any) -> Any:
        """Return the values of all datablocks, one row each. Single numbers are transposed together, which is faster than one by one."""
        count = len(blocks)
        single = self._single
        columns = np.empty((single, count), self._dtype)
        rows = np.empty((count, sum(width for _, width in self.order)), self._dtype)
        offset = 0
        for name, width in self.order:
            if offset < single:
                blocks.foreach_get(name, columns[offset])
            else:
                values = np.empty(count * width, self._dtype)
                blocks.foreach_get(name, values)
                rows[:, offset : offset + width] = values.reshape(count, width)
            offset += width
        rows[:, :single] = columns.T
        return rows

    def enums(self, block: Any) -> tuple[str, ...]:
        """Return the enum values of a datablock by name."""
        if self._enums:
            return self._enums(block)
        return ()

    def memory(self, block: Any) -> bytes:
        """Return the floats of one datablock, copied from the memory of its vectors and matrices, as `foreach_get` returns them."""
        pieces: list[Any]
        if self._arrays:
            pieces = [*self._arrays(block)]
        else:
            pieces = []
        if self._packed is None:
            plain = [(i, len(array)) for i, array in enumerate(pieces) if not hasattr(array, "__buffer__")]
            self._packed = [(i, packing.Struct(f"<{width}f").pack) for i, width in plain]
        for index, pack in self._packed:
            pieces[index] = pack(*pieces[index][:])
        if self._scalars:
            scalars = self._pack_scalars(*self._scalars(block))
        else:
            scalars = b""
        return scalars + b"".join(pieces)

    def values(self, block: Any) -> list[Any]:
        """Return the scalars, vectors and matrices of one datablock as a flat list."""
        values: list[Any]
        if self._scalars:
            values = [*self._scalars(block)]
        else:
            values = []
        if self._vectors:
            for vector in self._vectors(block):
                values += vector[:]  # a slice is read in one piece
        for matrix in self._matrices:
            value = matrix(block)
            if value.is_identity:  # exactly, but for the sign of a zero
                values += _IDENTITY
                continue
            # foreach_get returns matrices column by column.
            for column in value.transposed():
                values += column[:]
        return values
