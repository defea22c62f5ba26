"""What is written down: entries, records and port of the journal, and the published documents of a run."""
