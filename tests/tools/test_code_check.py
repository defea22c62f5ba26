"""Code is read before it runs: what would fail in the confined process is said at once, with its line."""

from __future__ import annotations

import pytest

from blendwright.tools.python.code_check import check_code, with_line_breaks
from blendwright.values.faults import Fault

REFUSED = {
    "import os": "code must not import 'os'",
    "import bpy, subprocess as s": "code must not import 'subprocess'",
    "from socket import socket": "code must not import 'socket'",
    "from . import x": "code must not import",
    "import numpy.ctypeslib, ctypes": "code must not import 'ctypes'",
    "open('/etc/passwd')": "open works only with declared files",
    "f = eval": "code must not use eval",
    "exec('1')": "code must not use exec",
    "__import__('os')": "code must not use __import__",
    "compile('1', 'x', 'exec')": "code must not use compile",
    "().__class__.__bases__": "'.__class__' gives access",
    "print(__builtins__)": "'__builtins__' gives access",
    "'{0.__class__.__init__}'.format(1)": "a format string gives access",
    "'{0[__globals__]}'.format(1)": "a format string gives access",
    "import bpy\nbpy.app.handlers.load_post.append(print)": "bpy.app.handlers",
    "import bpy as b\nb.app.timers.register(print)": "bpy.app.timers",
    "from bpy import app\napp.handlers.save_pre.clear()": "bpy.app.handlers",
    "from bpy.app import handlers": "bpy.app.handlers",
    "import bpy\nbpy.ops.wm.save_as_mainfile(filepath='x')": "bpy.ops.wm.save_as_mainfile",
    "import bpy\nbpy.ops.wm.open_mainfile(filepath='x')": "bpy.ops.wm.open_mainfile",
    "import bpy\nbpy.ops.wm.obj_export(filepath='x')": "bpy.ops.wm.obj_export",
    "import bpy\nbpy.ops.wm.url_open(url='x')": "bpy.ops.wm.url_open",
    "import bpy\nbpy.ops.preferences.addon_install(filepath='x')": "bpy.ops.preferences",
    "import bpy\nbpy.ops.text.run_script()": "bpy.ops.text",
    "import bpy\nbpy.utils.execfile('x')": "bpy.utils",
    "import bpy\nbpy.data.libraries.load('x')": "bpy.data.libraries",
    "import bpy\nbpy.data.images.load('x')": "bpy.data.images.load",
    "import bpy\nbpy.data.texts['t'].as_module()": "does not run text datablocks",
    "import bpy\nbpy.data.texts['t'].use_module = True": "registered text",
}
TAKEN = (
    "import bpy\nfor o in bpy.data.objects:\n    o.location.x += 1\n",
    "import bpy, bmesh, math\nfrom mathutils import Vector\nfrom mathutils.noise import noise\nprint(Vector((1, 2, math.pi)))",
    "import bpy\nbpy.ops.mesh.primitive_cube_add(size=2)",
    "import numpy as np\nprint(np.zeros(3))",
    "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 0\n    def __repr__(self):\n        return 'P'\n",
    "class A:\n    def __init__(self):\n        super().__init__()\nif __name__:\n    print('{:.2f} {name}'.format(1, name=2))",
    "import bpy\nprint(bpy.utils.units.to_value('METRIC', 'LENGTH', '1m'))",
)


@pytest.mark.proves("GN-PY-04")
@pytest.mark.parametrize("code", REFUSED)
def test_what_code_may_not_do_is_told_with_its_line(code: str) -> None:
    found = list(check_code(code, trusted=False))
    assert found and all(one.fault is Fault.ARGS_INVALID and one.pointer == "/code" and one.cure for one in found)
    assert any(REFUSED[code] in one.message for one in found), found
    assert found[-1].message.startswith(f"line {code.count(chr(10)) + 1}: ")


@pytest.mark.parametrize("code", TAKEN)
def test_code_that_works_on_the_scene_passes(code: str) -> None:
    assert list(check_code(code, trusted=False)) == []


def test_all_lines_at_fault_are_told_at_once_and_each_once() -> None:
    found = list(check_code("import os\nimport sys\nopen(open('x'))\n", trusted=False))
    assert [one.message.partition(":")[0] for one in found] == ["line 1", "line 2", "line 3"]


def test_trusted_code_need_only_be_python() -> None:
    assert list(check_code("import os\nopen('x')", trusted=True)) == []
    assert len(list(check_code("import os\nopen(", trusted=True))) == 1


def test_doubled_backslashes_are_recognised_for_what_they_are() -> None:
    (found,) = check_code(r"import bpy\nprint('hello')", trusted=False)
    assert found.message.startswith("line 1: the code is not Python") and "real line breaks" in (found.cure or "")


@pytest.mark.parametrize("code", ["x = (", "\x00", "(" * 5000, "-" * 100_000 + "1", "def f(:\n  pass"])
def test_what_is_not_python_is_one_finding(code: str) -> None:
    (found,) = check_code(code, trusted=False)
    assert "not Python" in found.message and found.cure


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (r"import bpy\nprint('hello')", "import bpy\nprint('hello')"),
        (r"for x in (1, 2):\n\tprint(x)", "for x in (1, 2):\n\tprint(x)"),
        ("import bpy\nprint('a\\nb')", "import bpy\nprint('a\\nb')"),  # real line breaks: nothing to cure
        (r"print('a\nb')", r"print('a\nb')"),  # Python as it stands
        (r"x = 1 # a\nb", r"x = 1 # a\nb"),
        (r"import bpy\nprint('a\nb')", r"import bpy\nprint('a\nb')"),  # a line break inside a text would break it
    ],
)
def test_line_breaks_that_were_escaped_twice_are_read_where_nothing_else_is_meant(given: str, meant: str) -> None:
    assert with_line_breaks(given) == meant
