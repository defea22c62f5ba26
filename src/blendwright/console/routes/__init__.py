"""The console's HTTP routes."""
