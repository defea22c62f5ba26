"""External files, imports, exports and linked libraries."""
