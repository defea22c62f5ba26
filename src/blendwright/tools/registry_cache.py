"""A cache of the hashes of tool declarations, in the user's cache directory. It saves time and decides nothing.

An entry is found by the hash of the very sources that the declarations are made from, so it cannot be stale: other sources have
another key. A cache that is missing, damaged, or that cannot be written means that the hashes are computed, silently.

What could somebody do who writes into it? The hashes say that core and worker have the same tools, and that a session contract
means the tools that are here. The first does not suffer: the key already proves that both have the same sources. A forged entry
could make a contract look as if it meant these tools, or the opposite. Nobody else may therefore write the file: one that
belongs to another user, or that others can write, is ignored. Whoever acts as the user could change the policy just as well.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

FILE = "tool-hashes.json"
# Several installations of a user share one file; each change of a source makes a new entry.
MOST_ENTRIES = 8
_HASH = re.compile(r"[0-9a-f]{64}")
_MOST_BYTES = 1 << 20

Hashes = Mapping[str, str]


def user_directory() -> Path | None:
    """Where this user's caches of ours are, or would be; None for a user without a home."""
    if root := os.environ.get("XDG_CACHE_HOME"):
        return Path(root) / "blendwright"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "blendwright" / "cache"
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "blendwright"


def load(directory: Path | None, key: str) -> Hashes:
    """The hashes by tool name that were stored under a key; none where there is nothing to rely on."""
    return _read(directory / FILE).get(key, {}) if directory is not None else {}


def store(directory: Path | None, key: str, hashes: Hashes) -> None:
    """Keep hashes under a key, replacing the file as a whole; where that is impossible, nothing happens."""
    if directory is None:
        return
    import tempfile  # hashes are stored once for each change of the sources, and asked for by every command

    others = {other: entry for other, entry in _read(directory / FILE).items() if other != key}
    newest = dict(list(others.items())[-(MOST_ENTRIES - 1) :]) | {key: dict(hashes)}
    with suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Only the user can read and write what mkstemp makes.
        descriptor, temporary = tempfile.mkstemp(prefix=FILE, dir=directory)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(newest, file)
            Path(temporary).replace(directory / FILE)
        except OSError:
            Path(temporary).unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Hashes]:
    """The entries of a file, in the order in which they were stored."""
    try:
        with path.open("rb") as file:
            content: object = json.loads(file.read(_MOST_BYTES)) if is_private(os.fstat(file.fileno())) else {}
    except (OSError, ValueError, RecursionError):
        return {}
    entries = cast("dict[str, Hashes]", content) if isinstance(content, dict) else {}
    return {key: hashes for key, hashes in entries.items() if _is_entry(hashes)}


def is_private(status: os.stat_result) -> bool:
    """Whether nobody but this user can have written the file."""
    if sys.platform == "win32":
        return True  # the directory belongs to the user's profile
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_entry(entry: object) -> bool:
    hashes = cast("dict[str, Any]", entry).values() if isinstance(entry, dict) else None
    return hashes is not None and all(isinstance(one, str) and _HASH.fullmatch(one) for one in hashes)
