"""A cache of the hashes of tool declarations, in the user's cache directory. It saves time and has no effect on results.

The key of an entry is the hash of the sources that the declarations depend on. An entry can therefore not be outdated: changed
sources have another key. If the cache is missing, damaged or not writable, the hashes are computed silently.

Threat model: the hashes show that core and worker have the same tools, and that a session contract refers to the present tools.
A forged entry cannot harm the first, because the key already proves that both have the same sources. It could make a contract
wrongly match these tools, or wrongly fail to match. A file that belongs to another user, or that other users can write, is
therefore ignored. An attacker who acts as the user could change the policy directly.
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
# Largest number of entries. Several installations of a user share one file, and each change of a source adds an entry.
MOST_ENTRIES = 8
_HASH = re.compile(r"[0-9a-f]{64}")
_MAX_BYTES = 1 << 20

Hashes = Mapping[str, str]


def user_directory() -> Path | None:
    """Return the directory for this user's caches, which may not exist yet, or None for a user without a home directory."""
    root = os.environ.get("XDG_CACHE_HOME")
    if root:
        return Path(root) / "blendwright"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "blendwright" / "cache"
    if sys.platform == "darwin":
        return home / "Library/Caches" / "blendwright"
    return home / ".cache" / "blendwright"


def load(directory: Path | None, key: str) -> Hashes:
    """Return the hashes by tool name that are stored under a key. They are empty if there is no trustworthy entry."""
    if directory is None:
        return {}
    return _read(directory / FILE).get(key, {})


def store(directory: Path | None, key: str, hashes: Hashes) -> None:
    """Store hashes under a key by replacing the whole file. Do nothing if that is impossible."""
    if directory is None:
        return
    import tempfile  # imported late: every command loads hashes, but only a change of the sources stores them

    entries = {other: entry for other, entry in _read(directory / FILE).items() if other != key}
    newest = dict(list(entries.items())[-(MOST_ENTRIES - 1) :]) | {key: dict(hashes)}
    with suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # mkstemp creates a file that only the user can read and write.
        descriptor, temporary = tempfile.mkstemp(prefix=FILE, dir=directory)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(newest, file)
            Path(temporary).replace(directory / FILE)
        except OSError:
            Path(temporary).unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Hashes]:
    """Return the valid entries of a file, in the order in which they were stored."""
    content: object = {}
    try:
        with path.open("rb") as file:
            if is_private(os.fstat(file.fileno())):
                content = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    entries = cast("dict[str, Hashes]", content)
    return {key: hashes for key, hashes in entries.items() if _is_entry(hashes)}


def is_private(status: os.stat_result) -> bool:
    """Return True if only this user can have written the file."""
    if sys.platform == "win32":
        return True  # the directory belongs to the user's profile
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    hashes = cast("dict[str, Any]", entry).values()
    return all(isinstance(value, str) and _HASH.fullmatch(value) for value in hashes)
