"""Moves of HEAD: checkout, undo, redo, adopt, and the names of commits."""
