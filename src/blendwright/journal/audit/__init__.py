"""The hash-chained audit log and its verification."""
