"""What is written down: the values that the journal takes and gives."""
