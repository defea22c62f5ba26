"""Attempts to read and write what is not the worker's: by Python, by Blender, by links."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.blender.confinement.attacking import HOME, LIBRARY, SCRIPT, SECRET, attack, bpy

# Reading


@attack(harmless=os.geteuid() == 0)
def open_etc_shadow(scratch: Path, outside: Path) -> object:
    return Path("/etc/shadow").read_text()


@attack(harmless=True)
def open_etc_passwd_through_proc_root(scratch: Path, outside: Path) -> object:
    return Path("/proc/self/root/etc/passwd").read_text()


@attack(harmless=True)
def open_with_dotdot_from_scratch(scratch: Path, outside: Path) -> object:
    return Path(os.path.relpath(outside / SECRET, scratch)).read_text()


@attack(harmless=True)
def list_directory_outside(scratch: Path, outside: Path) -> object:
    return list(outside.iterdir())


@attack(harmless=True)
def load_text_outside(scratch: Path, outside: Path) -> object:
    return "hush" in bpy().data.texts.load(str(outside / SECRET)).as_string()


@attack(harmless=True)
def append_library_outside(scratch: Path, outside: Path) -> object:
    with bpy().data.libraries.load(str(outside / LIBRARY)) as (source, _):
        return list(source.worlds)


@attack(harmless=True)
def open_blend_outside(scratch: Path, outside: Path) -> object:
    return bpy().ops.wm.open_mainfile(filepath=str(outside / LIBRARY), use_scripts=False)


@attack(harmless=True)
def load_image_outside(scratch: Path, outside: Path) -> object:
    return bpy().data.images.load(str(outside / "outside.png")).size[0]


@attack(harmless=True)
def execute_file_outside(scratch: Path, outside: Path) -> object:
    bpy().utils.execfile(str(outside / SCRIPT))
    return True


@attack(harmless=True)
def run_text_that_reads_outside(scratch: Path, outside: Path) -> object:
    text = bpy().data.texts.new("attack")
    text.write(f"import bpy; bpy.app.driver_namespace['loot'] = open({str(outside / SECRET)!r}).read()")
    with bpy().context.temp_override(edit_text=text):
        bpy().ops.text.run_script()
    return "hush" in bpy().app.driver_namespace["loot"]


@attack(harmless=True)
def read_environment_of_parent(scratch: Path, outside: Path) -> object:
    return Path(f"/proc/{os.getppid()}/environ").read_bytes()


@attack(harmless=False)
def read_command_line_of_init(scratch: Path, outside: Path) -> object:
    return Path("/proc/1/cmdline").read_bytes()


@attack(harmless=False)
def read_memory_of_parent(scratch: Path, outside: Path) -> object:
    return os.open(f"/proc/{os.getppid()}/mem", os.O_RDONLY)


def any_readable(*paths: str) -> bool:
    """Whether one of them can be read; each is tried."""
    read: list[str] = []
    for path in paths:
        try:
            read += [path] if Path(path).read_bytes() else []
        except OSError:
            continue
    return bool(read)


@attack(harmless=True)
def read_mounts_of_the_host(scratch: Path, outside: Path) -> object:
    names = ("mountinfo", "mounts", "mountstats", "cgroup", "task/self/mountinfo", f"task/{os.getpid()}/mountinfo")
    places = ("/proc/self", "/proc/thread-self", f"/proc/{os.getpid()}")
    return any_readable(*(f"{place}/{name}" for place in places for name in names), "/proc/mounts", "/etc/mtab")


@attack(harmless=True)
def read_network_of_the_host(scratch: Path, outside: Path) -> object:
    names = ("arp", "dev", "fib_trie", "route", "tcp", "tcp6", "udp", "unix", "sockstat")
    places = ("/proc/self/net", "/proc/net", "/proc/thread-self/net", f"/proc/self/task/{os.getpid()}/net")
    return any_readable(*(f"{place}/{name}" for place in places for name in names))


@attack(harmless=True)
def list_network_of_the_host(scratch: Path, outside: Path) -> object:
    return list(Path("/proc/self/net").iterdir())


@attack(harmless=True)
def read_own_start_of_the_host(scratch: Path, outside: Path) -> object:
    return any_readable("/proc/self/environ", "/proc/self/cmdline", "/proc/self/auxv")


@attack(harmless=True)
def read_from_a_later_thread(scratch: Path, outside: Path) -> object:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit((outside / SECRET).read_text).result()


# Writing


@attack(harmless=True)
def write_file_outside(scratch: Path, outside: Path) -> object:
    return (outside / "written.txt").write_text("x")


@attack(harmless=True)
def write_file_into_tmp(scratch: Path, outside: Path) -> object:
    path = Path("/tmp") / f"blendwright-attack-{os.getpid()}"
    path.write_text("x")
    path.unlink()
    return True


@attack(harmless=True)
def save_blend_outside(scratch: Path, outside: Path) -> object:
    bpy().ops.wm.save_as_mainfile(filepath=str(outside / "saved.blend"), copy=True)
    return (outside / "saved.blend").exists()


@attack(harmless=True)
def write_library_outside(scratch: Path, outside: Path) -> object:
    world = bpy().data.worlds.new("w")
    bpy().data.libraries.write(str(outside / "library.blend"), {world})
    return (outside / "library.blend").exists()


@attack(harmless=True)
def render_outside(scratch: Path, outside: Path) -> object:
    image = bpy().data.images.new("i", 4, 4)
    image.save(filepath=str(outside / "image.png"))
    return (outside / "image.png").exists()


@attack(harmless=True)
def export_outside(scratch: Path, outside: Path) -> object:
    bpy().ops.mesh.primitive_cube_add()
    bpy().ops.wm.obj_export(filepath=str(outside / "mesh.obj"))
    return (outside / "mesh.obj").exists()


@attack(harmless=True)
def truncate_by_path(scratch: Path, outside: Path) -> object:
    os.truncate(outside / "victim-truncate.txt", 0)
    return True


@attack(harmless=True)
def truncate_while_opening_to_read(scratch: Path, outside: Path) -> object:
    os.close(os.open(outside / "victim-truncate.txt", os.O_RDONLY | os.O_TRUNC))
    return True


@attack(harmless=True)
def delete_outside(scratch: Path, outside: Path) -> object:
    (outside / "victim-delete.txt").unlink()
    return True


@attack(harmless=True)
def move_into_scratch(scratch: Path, outside: Path) -> object:
    (outside / "victim-move.txt").rename(scratch / "moved.txt")
    return True


@attack(harmless=True)
def move_out_of_scratch(scratch: Path, outside: Path) -> object:
    source = scratch / "to-move.txt"
    source.write_text("x")
    source.rename(outside / "moved-out.txt")
    return True


@attack(harmless=True)
def make_symlink_in_scratch(scratch: Path, outside: Path) -> object:
    (scratch / "link").symlink_to(outside / SECRET)
    return True


@attack(harmless=True)
def make_hard_link_in_scratch(scratch: Path, outside: Path) -> object:
    (scratch / "hard").hardlink_to(outside / SECRET)
    return True


@attack(harmless=True)
def follow_symlink_planted_in_scratch(scratch: Path, outside: Path) -> object:
    return (scratch / "planted").read_text()


@attack(harmless=True)
def make_fifo_in_scratch(scratch: Path, outside: Path) -> object:
    os.mkfifo(scratch / "fifo")
    return True


@attack(harmless=True)
def change_mode_outside(scratch: Path, outside: Path) -> object:
    (outside / "victim-mode.txt").chmod(0o606)
    return (outside / "victim-mode.txt").stat().st_mode & 0o777 == 0o606


@attack(harmless=True)
def make_scratch_file_executable(scratch: Path, outside: Path) -> object:
    path = scratch / "tool"
    path.touch(0o600)
    path.chmod(0o700)
    return path.stat().st_mode & 0o100


@attack(harmless=True)
def set_attribute_outside(scratch: Path, outside: Path) -> object:
    os.utime(outside / "victim-mode.txt", (1, 1))
    return True


@attack(harmless=False)
def write_into_installed_package(scratch: Path, outside: Path) -> object:
    path = Path(sys.prefix) / f"blendwright-attack-{os.getpid()}"
    path.touch()
    path.unlink()
    return True


@attack(harmless=False)
def write_into_home_of_user(scratch: Path, outside: Path) -> object:
    path = HOME / f".blendwright-attack-{os.getpid()}"
    path.touch()
    path.unlink()
    return True


@attack(harmless=False)
def install_addon_into_profile_of_user(scratch: Path, outside: Path) -> object:
    addon = scratch / "evil_addon.py"
    addon.write_text("bl_info = {'name': 'Evil', 'blender': (4, 2, 0)}\ndef register(): pass\ndef unregister(): pass\n")
    bpy().ops.preferences.addon_install(filepath=str(addon))
    return not Path(bpy().utils.user_resource("SCRIPTS", path="addons")).is_relative_to(scratch)
