"""The cases of a batch, and the code that runs one case."""
