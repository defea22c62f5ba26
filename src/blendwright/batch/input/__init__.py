"""The input of a batch: tables, batch files, sampled values."""
