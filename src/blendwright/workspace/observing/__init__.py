"""Observers of the engine: the log, the metrics, and OpenTelemetry if it is configured.

They receive `values.events`.
"""
