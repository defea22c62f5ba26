"""Plain frozen values that every layer speaks: faults, findings, outcomes, frames. Imports nothing of ours."""
