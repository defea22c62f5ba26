"""Running calls: phases, gates, files, rebuilding. Sees the bridge and the history as ports."""
