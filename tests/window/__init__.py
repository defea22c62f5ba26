"""Tests of an open window: played by the wheel, with the real extension."""
