"""Long lists of numbers, in a separate file next to the listing. A comparison reads the numbers only if digests differ."""

import hashlib
from typing import IO, Any

import numpy as np

# The maximum number of values of an array that the listing contains directly.
_MAX_INLINE_VALUES = 16
_TYPES = {"f": "f4", "i": "i4", "u": "i4", "b": "i4"}


class ArrayFile:
    """A writer that appends arrays to an open file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def add(self, values: Any, width: int = 1) -> dict[str, Any]:
        """Append an array and return its entry for the listing. `width` is the number of values per element."""
        array: Any = np.ascontiguousarray(values).ravel()
        dtype = _TYPES[array.dtype.kind]
        array = array.astype(f"<{dtype}")
        entry: dict[str, Any] = {"array": dtype, "count": len(array), "width": width}
        if len(array) <= _MAX_INLINE_VALUES:
            return entry | {"values": [*map(_json_value, array.tolist())]}
        data = array.tobytes()
        entry |= {"offset": self._file.tell(), "digest": hashlib.sha256(data).hexdigest()}
        self._file.write(data)
        return entry


def _json_value(value: float) -> float | str:
    """Return a number, as a string if it is not finite, because JSON has no such number."""
    if np.isfinite(value):
        return value
    return str(value)
