"""Hostile code for python.run: every attack on the confinement as code, and attacks on the way that a result takes into the scene.

The attacks on the confinement are bundled into one text, because each run costs a Blender: it tries them all, says which succeeded,
and raises.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

from tests.blender.confinement import attacking, attacks_on_files, attacks_on_others

from blendwright.values.faults import Fault

# It needs a link that was planted before the confinement, where code comes later.
LEFT_OUT = frozenset({"follow_symlink_planted_in_scratch"})
COUNT = len(attacking.ATTACKS) - len(LEFT_OUT)

BODY = """
import json
scratch, outside = Path.cwd(), Path({outside!r})
succeeded = []
for name, act in ATTACKS.items():
    if name in {left_out!r} or ({harmless_only} and name not in HARMLESS):
        continue
    try:
        if act(scratch, outside):
            succeeded.append(name)
    except (OSError, RuntimeError, ValueError, KeyError):
        pass
raise ValueError("succeeded " + json.dumps(succeeded))
"""


def bundle(outside: Path, *, harmless_only: bool = False) -> str:
    """All attacks on the confinement as one piece of code."""
    parts = [_source(module) for module in (attacking, attacks_on_files, attacks_on_others)]
    # Confined code cannot ask the system whose home it is.
    parts[0] = parts[0].replace("Path(pwd.getpwuid(os.getuid()).pw_dir)", f"Path({str(attacking.HOME)!r})")
    return "\n".join([*parts, BODY.format(outside=str(outside), left_out=set(LEFT_OUT), harmless_only=harmless_only)])


def _source(module: ModuleType) -> str:
    lines = inspect.getsource(module).splitlines()
    return "\n".join(line for line in lines if not line.startswith("from tests."))


def _driver(expression: str) -> str:
    return (
        "import bpy\no = bpy.data.objects.new('D', None)\nbpy.context.scene.collection.objects.link(o)\n"
        f"o.driver_add('location', 0).driver.expression = {expression!r}\n"
    )


def _leaving(act: str) -> str:
    """Code that takes over the saving of its result. `path` is where the core looks for it."""
    return (
        "import sys, os, bpy\n"
        "state = sys.modules['blendwright.blender.scene.state'].SceneState\n"
        "real = state.save\n"
        f"def save(self, path):\n    {act}\n"
        "state.save = save\n"
    )


MARK = "import bpy\nbpy.data.texts.new('mark').write('x')\n"

# By name: the code, and the faults by which it may end. All of it is run with nobody reading it first.
ENDED: dict[str, tuple[str, set[Fault]]] = {
    # ---- what would run later, where the scene is opened
    "leave_a_registered_text": (
        "import bpy\nt = bpy.data.texts.new('evil.py')\nt.write('evil()')\nt.use_module = True", {Fault.POLICY_BLOCKED}
    ),
    "leave_a_scripted_driver": (_driver("__import__('os').system('true') or 1.0"), {Fault.POLICY_BLOCKED}),
    "leave_an_osl_script": (
        "import bpy\nt = bpy.data.texts.new('a.osl')\nm = bpy.data.materials.new('M')\nm.use_nodes = True\nm.use_fake_user = True\n"
        "m.node_tree.nodes.new('ShaderNodeScript').script = t", {Fault.POLICY_BLOCKED},
    ),
    "leave_a_style_module": (
        "import bpy\nt = bpy.data.texts.new('s.py')\nbpy.context.view_layer.freestyle_settings.modules.new().script = t",
        {Fault.POLICY_BLOCKED},
    ),
    "leave_a_linked_library": (
        "import bpy, os\nw = bpy.data.worlds.new('Far')\nplace = os.path.join(os.getcwd(), 'lib.blend')\n"
        "bpy.data.libraries.write(place, {w}, fake_user=True)\nbpy.data.worlds.remove(w)\n"
        "with bpy.data.libraries.load(place, link=True) as (a, b):\n    b.worlds = a.worlds\n"
        "bpy.context.scene.world = b.worlds[0]", {Fault.POLICY_BLOCKED},
    ),
    "leave_a_path_to_a_file": (
        "import bpy\ni = bpy.data.images.new('I', 4, 4)\ni.source = 'FILE'\ni.filepath = '/etc/passwd'\ni.use_fake_user = True",
        {Fault.POLICY_BLOCKED},
    ),
    "leave_a_place_to_render_to": (
        "import bpy\nbpy.context.scene.render.filepath = '/home/victim/.bashrc'", {Fault.POLICY_BLOCKED}
    ),
    # ---- the file that the core takes over
    "leave_junk_for_a_scene": (_leaving("path.write_bytes(b'BLENDER-v500' + bytes(4096))"), {Fault.EXECUTION_FAILED}),
    "leave_half_a_scene": (
        _leaving("real(self, path); os.truncate(path, os.path.getsize(path) // 2)"), {Fault.EXECUTION_FAILED}
    ),
    "leave_a_directory_for_a_scene": (_leaving("path.unlink(); path.mkdir()"), {Fault.EXECUTION_FAILED}),
    "leave_no_scene": (_leaving("path.unlink()"), {Fault.EXECUTION_FAILED}),
    "clean_the_scene_while_it_is_looked_at": (
        MARK + _leaving("[setattr(t, 'use_module', True) for t in bpy.data.texts]; real(self, path)"), {Fault.POLICY_BLOCKED}
    ),
    # ---- the wire
    "write_junk_to_the_core": (
        "import os\nfor fd in range(3, 1024):\n    try:\n        os.write(fd, b'\\xff' * 64)\n    except OSError:\n        pass",
        {Fault.WORKER_LOST},
    ),
    "answer_for_somebody_else": (
        "import os, json\nbody = json.dumps({'id': 4, 'result': {'ok': True}}).encode()\n"
        "for fd in range(3, 1024):\n    try:\n        os.write(fd, len(body).to_bytes(4, 'big') + body)\n    except OSError:\n        pass",
        {Fault.WORKER_LOST},
    ),
    "answer_with_nonsense": (
        "import sys\nstep = sys.modules['blendwright.blender.step']\n"
        "step._Run._report = lambda *a: {'ok': True, 'result': {'output': ['x'] * 9}, 'execute_ms': 'long'}",
        {Fault.EXECUTION_FAILED, Fault.WORKER_LOST},
    ),
    # ---- ending
    "kill_itself": ("import os\nos.kill(os.getpid(), 9)", {Fault.WORKER_LOST}),
    "exit_at_once": ("import os\nos._exit(0)", {Fault.WORKER_LOST}),
    "quit_blender": (
        "import bpy\nbpy.ops.wm.quit_blender()\nwhile True: pass", {Fault.WORKER_LOST, Fault.EXECUTION_FAILED, Fault.TOOL_TIMEOUT}
    ),
    "crash": ("import ctypes\nctypes.string_at(0)", {Fault.WORKER_LOST}),
    "overflow_the_stack": (
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
        {Fault.WORKER_LOST, Fault.EXECUTION_FAILED, Fault.TOOL_TIMEOUT, Fault.LIMIT_EXCEEDED},
    ),
    # ---- bombs
    "never_end": ("while True: pass", {Fault.TOOL_TIMEOUT}),
    "sleep_past_its_time": ("import time\ntime.sleep(1000)", {Fault.TOOL_TIMEOUT}),
    "take_all_memory": (
        "held = []\nwhile True: held.append(bytearray(b'x') * (1 << 24))", {Fault.LIMIT_EXCEEDED, Fault.EXECUTION_FAILED}
    ),
    "ask_for_all_memory_at_once": ("bytearray(1 << 42)", {Fault.EXECUTION_FAILED}),
    "fill_the_disk": (
        "n = 0\nwhile True:\n    n += 1\n    open(f'{n}.bin', 'wb').write(bytes(1 << 22))", {Fault.LIMIT_EXCEEDED}
    ),
    "fill_the_disk_without_a_name": (
        "import os\nf = open('x.bin', 'wb')\nos.unlink('x.bin')\nwhile True: f.write(bytes(1 << 22))", {Fault.LIMIT_EXCEEDED}
    ),
    "fill_memory_files": (
        "import os\nf = os.memfd_create('x')\nwhile True: os.write(f, bytes(1 << 22))", {Fault.EXECUTION_FAILED},
    ),
    "hide_memory_that_is_shared": (
        "import ctypes, time\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\nsize = 1 << 24\n"
        "while True:\n    m = libc.mmap(None, size, 3, 0x21, -1, 0)\n    ctypes.memset(m, 1, size)\n"
        "    libc.munmap(ctypes.c_void_p(m + 4096), size - 4096)", {Fault.LIMIT_EXCEEDED},
    ),
    "make_too_many_files": (
        "n = 0\nwhile True:\n    n += 1\n    open(f'{n}.txt', 'w').close()", {Fault.LIMIT_EXCEEDED, Fault.TOOL_TIMEOUT}
    ),
    "make_too_many_directories": (
        "import os\nn = 0\nwhile True:\n    n += 1\n    os.mkdir(f'{n}')", {Fault.LIMIT_EXCEEDED}
    ),
    "fill_the_log": ("import os\nwhile True: os.write(1, bytes(1 << 20))", {Fault.LIMIT_EXCEEDED}),
    "start_too_many_threads": (
        "import threading, time\nthreading.stack_size(65536)\n"
        "while True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()", {Fault.LIMIT_EXCEEDED},
    ),
    "fork_without_end": ("import os\nwhile True: os.fork()", {Fault.EXECUTION_FAILED}),
}  # fmt: skip

# Code that ends well and has got nothing by it.
FRUITLESS: dict[str, str] = {
    "hook_into_loading_and_stepping": (
        "import bpy\nfor hooks in (bpy.app.handlers.load_post, bpy.app.handlers.depsgraph_update_post):\n"
        "    hooks.append(bpy.app.handlers.persistent(lambda *a: bpy.data.texts.new('hooked')))\n"
        "bpy.app.timers.register(lambda: bpy.data.texts.new('timed') and 0.01)\n"
        "bpy.app.driver_namespace['evil'] = print\n"
    ),
    "install_an_add_on": (
        "import bpy, os\nopen('evil_addon.py', 'w').write(\"bl_info = {'name': 'Evil', 'blender': (4, 2, 0)}\\n"
        "import bpy\\ndef register(): bpy.data.texts.new('addon')\\ndef unregister(): pass\\n\")\n"
        "try:\n    bpy.ops.preferences.addon_install(filepath=os.path.abspath('evil_addon.py'))\nexcept RuntimeError:\n    pass\n"
    ),
    "read_the_environment": (
        "import os\nprint(dict(os.environ))\n"
        "try:\n    print(open('/proc/self/environ').read())\nexcept OSError:\n    pass\n"
        "print('{0.__init__.__globals__}'.format(__import__('contextlib').ExitStack))\n"
        "print('{0._Environ__data}'.format(os) if False else '{0.environ}'.format(os))\n"
    ),
    "lie_about_the_hash": (
        "import sys\nsys.modules['blendwright.blender.fingerprint'].Fingerprint.root = lambda self: 'bw2:5.0:' + 'f' * 64\n"
    ),
    "write_over_the_tools": (
        "import sys, bpy\nrun = sys.modules['blendwright.tools.python.run'].RunPython\nrun.verify = lambda *a: ()\n"
        "sys.modules['blendwright.blender.scene.code.scripts'].marks = lambda: []\n"
    ),
}
