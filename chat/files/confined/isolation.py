"""The isolation of a child process, before it reads a file of unknown origin.

Memory and time beyond its limits, root, other files, and all system calls that it does not need.
"""

import contextlib
import ctypes
import os
import resource
import struct
import sys

from . import system_calls

# Landlock, https://docs.kernel.org/userspace-api/landlock.html: the numbers of its system calls are the same
# on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF, ASK_VERSION, PATH_BENEATH = 444, 445, 446, 1, 1
READ_FILE, READ_FOLDER = 1 << 2, 1 << 3
# Execute, write, read, remove, and make files, folders, links, sockets and devices.
FILE_RIGHTS = (1 << 13) - 1
TRUNCATE = 1 << 14  # since version 3
TCP = 0b11  # bind and connect, since version 4
ABSTRACT_SOCKETS_AND_SIGNALS = 0b11  # to processes that are not isolated as well, since version 6
# Folders from which Python and the parsers load files while they run, beside Python's own.
SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/fonts",
    "/dev/urandom",
)
NO_NEW_PRIVILEGES, KEEP_CAPABILITIES = 38, 8  # of prctl
NOBODY = 65_534
CAPABILITIES_VERSION = 0x20080522
READ_ANY_FILE = 0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
# Processes and threads of this user, those of the server included: a bound where a file makes threads.
MAX_TASKS = 4_096
UNCONFINED_EXITS = {"Linux": 101, "Landlock": 102, "seccomp": 103}  # of a child, by what is missing


def limit_resources(address_space_bytes: int, cpu_seconds: int) -> None:
    """Bound memory, CPU time and threads; forbid files that grow.

    Where memory is scarce, the kernel ends this process rather than the server. At the end of its CPU time
    it gets SIGXCPU, a second later SIGKILL.
    """
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    tasks = MAX_TASKS if most == resource.RLIM_INFINITY else min(most, MAX_TASKS)
    for name, soft, hard in (
        (resource.RLIMIT_AS, address_space_bytes, address_space_bytes),
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NPROC, tasks, tasks),
    ):
        resource.setrlimit(name, (soft, hard))
    os.nice(5)


def isolate(code: str) -> str:
    """Forbid what is not needed to read the standard input. Return what the kernel lacks for it, or "".

    That is all files except those of Python, the system and `code`, and all system calls but a list. The
    environment of the server is a file of `/proc`, so it cannot be read.
    """
    if sys.platform != "linux":
        return "Linux"
    libc = ctypes.CDLL(None)
    leave_root(libc)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    has_landlock = restrict_files(libc, code)
    has_seccomp = system_calls.restrict()
    return "" if has_landlock and has_seccomp else "seccomp" if has_landlock else "Landlock"


def leave_root(libc: ctypes.CDLL) -> None:
    """Become nobody where the server is root; of root's rights, keep that to read what Landlock allows."""
    if os.geteuid() != 0:
        return
    header, sets = struct.pack("Ii", CAPABILITIES_VERSION, 0), ctypes.create_string_buffer(24)
    libc.prctl(KEEP_CAPABILITIES, 1, 0, 0, 0)
    # A container may have no such user, or not the right to change to it.
    with contextlib.suppress(OSError):
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        libc.capget(header, sets)
        _effective, permitted, *_rest = struct.unpack("6I", sets)
        kept = permitted & READ_ANY_FILE
        libc.capset(header, struct.pack("6I", kept, kept, 0, 0, 0, 0))


def restrict_files(libc: ctypes.CDLL, code: str) -> bool:
    """Have Landlock forbid other files, and what else it knows. Return False where it is not there."""
    version = libc.syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < 1:
        return False
    rules = [FILE_RIGHTS | TRUNCATE if version >= 3 else FILE_RIGHTS]
    rules += [TCP] if version >= 4 else []
    rules += [ABSTRACT_SOCKETS_AND_SIGNALS] if version >= 6 else []
    attributes = struct.pack(f"{len(rules)}Q", *rules)
    ruleset = libc.syscall(CREATE_RULESET, attributes, len(attributes), 0)
    for path in {*SYSTEM, *sys.path, sys.prefix, sys.base_prefix, code}:
        _allow_reading(libc, ruleset, path)
    is_restricted = libc.syscall(RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return is_restricted


def _allow_reading(libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    with contextlib.suppress(OSError):  # not every path of `sys.path` exists
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rights = READ_FILE | READ_FOLDER if os.path.isdir(path) else READ_FILE
        libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, opened), 0)
        os.close(opened)


def main() -> None:
    """Find out, as the program of a child, whether it is confined: do what it must not be able to do."""
    import socket

    with contextlib.suppress(PermissionError), socket.socket():
        sys.exit(UNCONFINED_EXITS["seccomp"])
    with contextlib.suppress(PermissionError), open("/proc/self/environ"):
        sys.exit(UNCONFINED_EXITS["Landlock"])
