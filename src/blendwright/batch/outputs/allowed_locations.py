"""Where a worker may write outputs to. Rows of the database name the place; which places there may be, the worker's operator says.

Without a word of the operator it is storage of objects, by credentials that the machine has: nothing on the machine itself is written.
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
    """What the operator named, URLs or directories of this machine; any storage of objects where nothing was named. Raises Refusal."""
    places = [check_url(place) if is_url(place) else f"{FILE}{Path(place).resolve()}" for place in named]
    return tuple(places) or DEFAULT


def outputs_refusal(url: str, allowed: Sequence[str]) -> Finding | None:
    """Why outputs may not go there; None where they may."""
    try:
        place = check_url(url)
    except Refusal as refusal:
        return refusal.findings[0]
    if any(_is_below(place, each) for each in allowed):
        return None
    cure = f"Start the workers with --outputs {place} if they shall, then: blendwright batch retry {place} --failed --engine env"
    return Finding(Fault.POLICY_BLOCKED, f"this worker was not told that it may write to {place}", "", cure)


def _is_below(place: str, prefix: str) -> bool:
    if not place.startswith(FILE) or not prefix.startswith(FILE):
        return f"{place}/".startswith(prefix if prefix.endswith("/") else f"{prefix}/")
    # Links are followed, as whoever writes there follows them.
    leads_to = Path(place.removeprefix(FILE), CASES).resolve()
    return leads_to.is_relative_to(Path(prefix.removeprefix(FILE)).resolve() / "")
