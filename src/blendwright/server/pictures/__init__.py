"""Pictures in answers."""
