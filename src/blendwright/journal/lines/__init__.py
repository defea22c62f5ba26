"""Lines of history: ancestry, branches, moves of HEAD and merges."""
