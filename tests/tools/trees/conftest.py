"""Tests here share the scene of their file."""

from __future__ import annotations

from support.stage.kept_stage import kept_stage, stage

__all__ = ["kept_stage", "stage"]
