"""The console: a page on loopback in which runs are watched, approved, undone and proven. A client of `app`, like the command line."""
