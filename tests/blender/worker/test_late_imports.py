"""What Blender loads at its start for others, and a worker does without."""

from __future__ import annotations

import subprocess
import sys

import bpy
import pytest

from blendwright.blender.worker.late_imports import LATE

# In a process of its own: here Blender is loaded already.
STARTED = """
import sys
from blendwright.blender.worker.late_imports import LATE, load_late
load_late()
import bpy
print("requests" in sys.modules)
import importlib
for name in LATE:
    assert callable(importlib.import_module(name).is_more_recent_than)
print("requests" in sys.modules)
"""


@pytest.mark.skipif(bpy.app.version < (5, 2), reason="Blenders before 5.2 load no HTTP client")
def test_blender_starts_without_its_http_client_and_has_it_when_somebody_uses_it() -> None:
    assert LATE
    done = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split()[-2:] == ["False", "True"], done.stderr
