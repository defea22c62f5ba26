"""Resource limits of a worker, and the vow never to gain privileges. Time is the core's to limit, by killing."""

import ctypes
import os
import resource

from blendwright.blender.confinement.report import Resources

_PR_SET_NO_NEW_PRIVS = 38

_OPEN_FILES = 1024


def forbid_new_privileges() -> None:
    """Landlock and seccomp ask for this of everyone but root; with it no setuid program helps either."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), f"prctl {option}")


def limit_resources(resources: Resources) -> None:
    """Lower the limits for good; one that is already lower stays as it is."""
    for kind, wanted in (
        (resource.RLIMIT_AS, resources.address_space),
        (resource.RLIMIT_FSIZE, resources.file_size),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (limit, limit))
