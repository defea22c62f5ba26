"""Long lists of numbers, in a file beside the listing: whoever compares two of them looks at the numbers only where digests differ."""

import hashlib
from typing import IO, Any

import numpy as np

# Shorter ones stand in the listing itself.
_FEW = 16
_TYPES = {"f": "f4", "i": "i4", "u": "i4", "b": "i4"}


class ArrayFile:
    """Appends arrays to an open file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def add(self, values: Any, width: int = 1) -> dict[str, Any]:
        """An array as the listing shows it; `width` is how many numbers an element has."""
        array: Any = np.ascontiguousarray(values).ravel()
        dtype = _TYPES[array.dtype.kind]
        array = array.astype(f"<{dtype}")
        entry: dict[str, Any] = {"array": dtype, "count": len(array), "width": width}
        if len(array) <= _FEW:
            # The text keeps what is not finite out of JSON.
            return entry | {"values": [value if np.isfinite(value) else str(value) for value in array.tolist()]}
        data = array.tobytes()
        entry |= {"offset": self._file.tell(), "digest": hashlib.sha256(data).hexdigest()}
        self._file.write(data)
        return entry
