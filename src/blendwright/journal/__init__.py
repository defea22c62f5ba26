"""The durable truth of a workspace: commits, receipts, audit chain, checkpoints. Nothing here knows Blender or plans."""

from __future__ import annotations

from blendwright.journal.journal import Journal
from blendwright.journal.journal_view import JournalView

__all__ = ["Journal", "JournalView"]
