"""Plans, macros and edits that many tests run."""
