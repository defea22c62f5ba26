"""The input of a batch: tables, batch files and sampled values."""
