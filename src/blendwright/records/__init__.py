"""Records: the values that the journal stores and returns."""
