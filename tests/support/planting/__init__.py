"""Bugs and broken requirements that are planted to prove that tests can fail."""
