"""The durable record of a workspace: commits, receipts, audit chain and checkpoints.

This package knows neither Blender nor plans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blendwright.journal.journal import Journal
    from blendwright.journal.journal_view import JournalView

__all__ = ["Journal", "JournalView"]


def __getattr__(name: str) -> Any:
    """Import Journal or JournalView on first access, so that a plan check that needs only file names loads no
    database.
    """
    if name == "Journal":
        from blendwright.journal.journal import Journal

        return Journal
    if name == "JournalView":
        from blendwright.journal.journal_view import JournalView

        return JournalView
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
