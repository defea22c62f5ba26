"""Runs Python text that uses the core, as `python -c` does: `python -P core_script.py TEXT ARGUMENT…`. In tests it is forked."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    exec(compile(sys.argv.pop(1), "<text>", "exec"), {"__name__": "__main__"})
