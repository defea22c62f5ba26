"""Who watches the engine: the log, the metrics, and OpenTelemetry where it is configured. Observers of `values.events`."""
