"""Attempts to reach other processes, the network and the kernel, and to loosen our own fetters."""

import ctypes
import fcntl
import mmap
import os
import resource
import signal
import socket
import subprocess
from pathlib import Path

from tests.blender.confinement.attacking import attack, libc, passes, raw

# Other processes


@attack(harmless=True)
def shell(scratch: Path, outside: Path) -> object:
    return libc.system(b"true") == 0


@attack(harmless=True)
def start_subprocess(scratch: Path, outside: Path) -> object:
    return subprocess.run(["/bin/true"], check=True).returncode == 0


@attack(harmless=True)
def spawn(scratch: Path, outside: Path) -> object:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
    return True


@attack(harmless=True)
def fork(scratch: Path, outside: Path) -> object:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


@attack(harmless=False)
def replace_by_raw_execve(scratch: Path, outside: Path) -> object:
    return passes("execve", ctypes.c_char_p(b"/nowhere/true"), None, None)


@attack(harmless=False)
def replace_by_an_open_file_and_execveat(scratch: Path, outside: Path) -> object:
    descriptor = os.open(scratch / "program", os.O_RDWR | os.O_CREAT, 0o700)
    os.write(descriptor, b"not a program")
    return passes("execveat", ctypes.c_int(descriptor), ctypes.c_char_p(b""), None, None, ctypes.c_int(0x1000))


@attack(harmless=True)
def hide_memory_in_a_file_without_a_name(scratch: Path, outside: Path) -> object:
    return os.memfd_create("hidden")


@attack(harmless=True)
def signal_parent(scratch: Path, outside: Path) -> object:
    os.kill(os.getppid(), 0)
    return True


@attack(harmless=True)
def signal_own_group(scratch: Path, outside: Path) -> object:
    os.kill(0, 0)
    return True


@attack(harmless=True)
def signal_parent_by_pidfd(scratch: Path, outside: Path) -> object:
    signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 0)
    return True


@attack(harmless=True)
def have_the_kernel_signal_parent(scratch: Path, outside: Path) -> object:
    reader, _ = os.pipe()
    fcntl.fcntl(reader, 8, os.getppid())  # F_SETOWN
    return True


@attack(harmless=True)
def read_limits_of_parent(scratch: Path, outside: Path) -> object:
    return resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)


@attack(harmless=True)
def pin_parent_to_its_cpus(scratch: Path, outside: Path) -> object:
    os.sched_setaffinity(os.getppid(), os.sched_getaffinity(0))
    return True


@attack(harmless=False)
def trace_by_ptrace(scratch: Path, outside: Path) -> object:
    return passes("ptrace", ctypes.c_long(16), ctypes.c_long(0), None, None)


@attack(harmless=True)
def read_memory_by_process_vm_readv(scratch: Path, outside: Path) -> object:
    return (
        raw(
            "process_vm_readv",
            ctypes.c_long(os.getpid()),
            None,
            ctypes.c_long(0),
            None,
            ctypes.c_long(0),
            ctypes.c_long(0),
        )
        == 0
    )


@attack(harmless=False)
def type_into_terminal(scratch: Path, outside: Path) -> object:
    return passes("ioctl", ctypes.c_int(0), ctypes.c_ulong(0x5412), None)  # TIOCSTI


# The network


@attack(harmless=True)
def tcp_socket(scratch: Path, outside: Path) -> object:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    return True


@attack(harmless=True)
def udp_socket(scratch: Path, outside: Path) -> object:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
    return True


@attack(harmless=True)
def unix_socket(scratch: Path, outside: Path) -> object:
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close()
    return True


@attack(harmless=True)
def socket_by_raw_call(scratch: Path, outside: Path) -> object:
    os.close(raw("socket", ctypes.c_int(2), ctypes.c_int(1), ctypes.c_int(0)))
    return True


@attack(harmless=True)
def socket_pair(scratch: Path, outside: Path) -> object:
    for end in socket.socketpair():
        end.close()
    return True


@attack(harmless=False)
def io_uring(scratch: Path, outside: Path) -> object:
    return passes("io_uring_setup", ctypes.c_uint(1), ctypes.create_string_buffer(120))


# The kernel and our own fetters


@attack(harmless=False)
def mount(scratch: Path, outside: Path) -> object:
    return passes("mount", b"none", str(scratch).encode(), b"nofs", ctypes.c_ulong(0), None)


@attack(harmless=False)
def new_user_namespace(scratch: Path, outside: Path) -> object:
    return passes("unshare", ctypes.c_int(0x10000000))


@attack(harmless=True)
def set_uid(scratch: Path, outside: Path) -> object:
    os.setuid(os.getuid())
    return True


@attack(harmless=False)
def change_root(scratch: Path, outside: Path) -> object:
    try:
        os.chroot(scratch / "nowhere")
    except FileNotFoundError:
        return True  # the filter let it pass
    return True


@attack(harmless=True)
def lift_limits(scratch: Path, outside: Path) -> object:
    resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
    return True


@attack(harmless=True)
def outlive_the_parent(scratch: Path, outside: Path) -> object:
    return libc.prctl(1, 0, 0, 0, 0) == 0  # PR_SET_PDEATHSIG


@attack(harmless=True)
def take_more_address_space_than_allowed(scratch: Path, outside: Path) -> object:
    mmap.mmap(-1, 20 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000).close()  # MAP_NORESERVE
    return True


@attack(harmless=True)
def use_shared_memory_of_the_system(scratch: Path, outside: Path) -> object:
    identifier = raw("shmget", ctypes.c_int(0), ctypes.c_size_t(4096), ctypes.c_int(0o1600))
    raw("shmctl", ctypes.c_int(identifier), ctypes.c_int(0), None)
    return True


@attack(harmless=False)
def load_a_bpf_program(scratch: Path, outside: Path) -> object:
    return passes("bpf", ctypes.c_int(0), None, ctypes.c_uint(0))
