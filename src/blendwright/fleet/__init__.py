"""Batches over many machines: cases and results in PostgreSQL, jobs in Procrastinate's queue of the same database."""
