"""Rows of the benchmark table."""

from __future__ import annotations

from typing import Any


def row(what: str, value: float, unit: str, limit: float | None) -> dict[str, Any]:
    """What was measured, the figure, and the most it should be, where there is such a promise."""
    return {
        "what": what,
        "value": float(f"{value:.3g}"),
        "unit": unit,
        "limit": limit,
        "ok": limit is None or value <= limit,
    }
