"""Batches on many machines: cases and results are in PostgreSQL, and jobs in Procrastinate's queue in the same database."""
