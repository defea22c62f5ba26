"""Foreign code: isolated runs, the determinism proof and resource limits."""
