"""Plain frozen values that every layer uses: faults, findings, plans, reports, outcomes. It imports no other layer."""
