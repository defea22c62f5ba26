"""The benchmark: ratios measured in one run, as a table and as JSON. Never part of the tests."""
