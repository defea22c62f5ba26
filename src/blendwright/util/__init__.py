"""Helpers without knowledge of Blendwright: JSON, safe file access, cancellation, crash points."""
