"""The time as the journal writes it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """UTC, RFC 3339 with microseconds: sorts as text."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
