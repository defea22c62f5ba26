"""The locations to which a worker may write outputs. Rows of the database name a location; the worker's operator decides which are allowed.

By default, a worker may write to object storage with the machine's credentials, and to no directory of the machine itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from blendwright.batch.outputs.shared_storage import FILE, STORAGE, check_url, is_url
from blendwright.batch.outputs.store import CASES
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

DEFAULT = tuple(f"{scheme}://" for scheme in STORAGE)


def allowed_places(named: Sequence[str]) -> tuple[str, ...]:
    """Return the locations that the operator named as URLs, or any object storage if there are none. Raise Refusal for an invalid one."""
    locations: list[str] = []
    for location in named:
        if is_url(location):
            locations.append(check_url(location))
        else:
            locations.append(f"{FILE}{Path(location).resolve()}")
    return tuple(locations) or DEFAULT


def outputs_refusal(url: str, allowed: Sequence[str]) -> Finding | None:
    """Return a finding if outputs may not go to a URL, or None if they may."""
    try:
        location = check_url(url)
    except Refusal as refusal:
        return refusal.findings[0]
    if any(_is_below(location, prefix) for prefix in allowed):
        return None
    fix = (
        f"To allow it, start the workers with --outputs {location}, "
        f"then run: blendwright batch retry {location} --failed --engine env"
    )
    return Finding(Fault.POLICY_BLOCKED, f"this worker may not write to {location}", "", fix)


def _is_below(location: str, prefix: str) -> bool:
    if not location.startswith(FILE) or not prefix.startswith(FILE):
        return f"{location}/".startswith(prefix.removesuffix("/") + "/")
    # Resolve symbolic links, because writing there follows them.
    target = Path(location.removeprefix(FILE), CASES).resolve()
    return target.is_relative_to(Path(prefix.removeprefix(FILE)).resolve() / "")
