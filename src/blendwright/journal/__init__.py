"""The durable truth of a workspace: commits, receipts, audit chain, checkpoints. Nothing here knows Blender or plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blendwright.journal.journal import Journal
    from blendwright.journal.journal_view import JournalView

__all__ = ["Journal", "JournalView"]


def __getattr__(name: str) -> Any:
    """Loaded when it is first asked for: whoever checks a plan needs the names of files here, and no database."""
    if name == "Journal":
        from blendwright.journal.journal import Journal

        return Journal
    if name == "JournalView":
        from blendwright.journal.journal_view import JournalView

        return JournalView
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
