"""History beyond undo: branches, tags, forks, merge, blame, bisect and the log by plan."""
