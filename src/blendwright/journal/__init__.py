"""The durable truth of a workspace: commits, receipts, audit chain, checkpoints. Nothing here knows Blender or plans."""

from __future__ import annotations

from blendwright.journal.journal import Journal, JournalView

__all__ = ["Journal", "JournalView"]
