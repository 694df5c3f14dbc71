"""The start of a child process that reads one file of unknown origin. Run as a script, with `-I`.

    process.py PROGRAM ADDRESS_SPACE_BYTES CPU_SECONDS [ARGUMENT …]

PROGRAM is a module of this project, whose `main` is called, or the path of a script. The limits below are set
before, so that a parser that is exploited or runs wild meets them. They are set before any byte of the file,
which is the standard input, is read. It knows nothing of the site: no settings, no environment, no network.
"""

import contextlib
import ctypes
import importlib
import os
import resource
import struct
import sys

PROJECT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
# Landlock, https://docs.kernel.org/userspace-api/landlock.html: the numbers of its system calls are the same
# on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF, ASK_VERSION, PATH_BENEATH = 444, 445, 446, 1, 1
NO_NEW_PRIVILEGES = 38  # of prctl
READ_FILE, READ_FOLDER = 1 << 2, 1 << 3
# Execute, write, read, remove, and make files, folders, links, sockets and devices.
WRITE_RIGHTS = (1 << 13) - 1
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


def limit_resources(address_space_bytes: int, cpu_seconds: int) -> None:
    """Bound memory and CPU time; forbid files and further processes.

    Where memory is scarce, the kernel ends this process rather than the server. At the end of its CPU time
    it gets SIGXCPU, a second later SIGKILL.
    """
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    for name, soft, hard in (
        (resource.RLIMIT_AS, address_space_bytes, address_space_bytes),
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
    ):
        resource.setrlimit(name, (soft, hard))
    os.nice(5)


def isolate(code: str) -> None:
    """Forbid programs, TCP, other processes, and all files except those of Python, the system and `code`.

    The environment of the server is a file of `/proc`, so it cannot be read. A kernel without Landlock, or a
    sandbox that hides it, forbids nothing of this.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    version = libc.syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < 1:
        return
    rules = [WRITE_RIGHTS | TRUNCATE if version >= 3 else WRITE_RIGHTS]
    rules += [TCP] if version >= 4 else []
    rules += [ABSTRACT_SOCKETS_AND_SIGNALS] if version >= 6 else []
    attributes = struct.pack(f"{len(rules)}Q", *rules)
    ruleset = libc.syscall(CREATE_RULESET, attributes, len(attributes), 0)
    for path in {*SYSTEM, *sys.path, sys.prefix, sys.base_prefix, code}:
        _allow_reading(libc, ruleset, path)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow_reading(libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    with contextlib.suppress(OSError):  # not every path of `sys.path` exists
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rights = READ_FILE | READ_FOLDER if os.path.isdir(path) else READ_FILE
        libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, opened), 0)
        os.close(opened)


def main() -> None:
    program, address_space_bytes, cpu_seconds, *arguments = sys.argv[1:]
    limit_resources(int(address_space_bytes), int(cpu_seconds))
    sys.argv = [program, *arguments]
    if program.endswith(".py"):
        import runpy  # half of the time that this module takes to start

        isolate(program)
        runpy.run_path(program, run_name="__main__")
    else:
        # The folder holds the data of the site as well, so only the package of the module stays readable.
        sys.path.insert(0, PROJECT)
        module = importlib.import_module(program)
        sys.path.remove(PROJECT)
        isolate(os.path.join(PROJECT, program.partition(".")[0]))
        module.main()


if __name__ == "__main__":
    main()
