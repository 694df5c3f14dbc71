"""The system calls that a confined child may make: a list, as a seccomp filter. All others fail with EPERM.

https://docs.kernel.org/userspace-api/seccomp_filter.html. The list holds what Python, its C library and the
parsers use to read files that Landlock lets them open, to write their output, and to manage their own memory
and threads. Nothing in it makes a socket or a process, changes a file, or names another process.
"""

import ctypes
import errno
import os
import struct
import sys

Check = list[bytes]  # instructions that refuse the call, or go on behind themselves

# Instructions of the classic BPF, see linux/bpf_common.h and linux/filter.h, and their results.
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
SET_SECCOMP, FILTER = 22, 2  # of prctl
# Where the filter finds the number of the call, the architecture, and the arguments of eight bytes.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# The flags with which the C libraries glibc and musl make a thread.
THREAD = 0x3D0F00, 0x7D0F00
SHARED = 0x1  # of mmap: what is written into such memory changes the file
ASK_FOR_TERMINAL, CLOSE_ON_EXEC = 0x5401, 0x5451  # of ioctl: Python asks for the first of each file it opens
DUPLICATE, GET_FLAGS, SET_FLAGS, GET_STATUS, DUPLICATE_CLOSING = 0, 1, 2, 3, 1030  # of fcntl

# The numbers of x86_64, in which those of its variant x32 are never found, and those of aarch64.
CALLS: dict[str, tuple[int | None, int | None]] = {
    # Files: opened for reading only, and read.
    "open": (2, None),
    "openat": (257, 56),
    "close": (3, 57),
    "read": (0, 63),
    "readv": (19, 65),
    "pread64": (17, 67),
    "lseek": (8, 62),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "fadvise64": (221, 223),
    "stat": (4, None),
    "lstat": (6, None),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    # The output and the messages.
    "write": (1, 64),
    "writev": (20, 66),
    # Memory.
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "mprotect": (10, 226),
    "madvise": (28, 233),
    "brk": (12, 214),
    # Threads. The flags of clone3 are out of a filter's reach; without it, the C library uses clone.
    "clone": (56, 220),
    "clone3": (435, 435),
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "gettid": (186, 178),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "exit": (60, 93),
    "exit_group": (231, 94),
    # Signals to this process.
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "setitimer": (38, 103),  # it ends a regular expression of an imported file
    "restart_syscall": (219, 128),
    # Time, chance, and what this process is.
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrusage": (98, 165),
    "getrlimit": (97, 163),
    "prlimit64": (302, 261),
}


def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return a sock_filter. The last two arguments are how many instructions are skipped."""
    return struct.pack("=HBBI", code, if_true, if_false, value)


def refusal(error: int = errno.EPERM) -> bytes:
    return instruction(RETURN, REFUSE | error)


def equals(argument: int, *values: int) -> Check:
    """Return a check that the argument, as the 32 bits that the kernel takes of an int, is one of these."""
    return word_equals(ARGUMENTS + 8 * argument, *values)


def is_null(argument: int) -> Check:
    """Return a check that the argument, a pointer, is null."""
    start = ARGUMENTS + 8 * argument
    return word_equals(start, 0) + word_equals(start + 4, 0)


def lacks(argument: int, bits: int) -> Check:
    """Return a check that the argument, flags, has none of these bits."""
    load = instruction(LOAD, ARGUMENTS + 8 * argument)
    return [load, instruction(ANY_BIT, bits, if_false=1), refusal()]


def word_equals(place: int, *values: int) -> Check:
    compared = [instruction(EQUAL, value, if_true=len(values) - index) for index, value in enumerate(values)]
    return [instruction(LOAD, place), *compared, refusal()]


CHECKS: dict[str, Check] = {
    "open": lacks(1, WRITING),
    "openat": lacks(2, WRITING),
    "fcntl": equals(1, DUPLICATE, GET_FLAGS, SET_FLAGS, GET_STATUS, DUPLICATE_CLOSING),
    "ioctl": equals(1, ASK_FOR_TERMINAL, CLOSE_ON_EXEC),
    "write": equals(0, 1, 2),
    "writev": equals(0, 1, 2),
    "mmap": lacks(3, SHARED),
    "clone": equals(0, *THREAD),
    "clone3": [refusal(errno.ENOSYS)],
    "sched_getaffinity": equals(0, 0),
    "prlimit64": equals(0, 0) + is_null(2),  # its own limits, which it may ask for
}


def filter_of(machine: str) -> bytes:
    """Return the program of the filter for this architecture, one of `ARCHITECTURES`."""
    column = list(ARCHITECTURES).index(machine)
    program = word_equals(ARCHITECTURE, ARCHITECTURES[machine])
    program.append(instruction(LOAD, NUMBER))
    for name, numbers in CALLS.items():
        number = numbers[column]
        if number is not None:
            allowed = [*CHECKS.get(name, []), instruction(RETURN, ALLOW)]
            program += [instruction(EQUAL, number, if_false=len(allowed)), *allowed]
    return b"".join([*program, refusal()])


def restrict() -> bool:
    """Leave this thread, and those that it makes, these calls. Return False where that can't be done."""
    machine = os.uname().machine
    if machine not in ARCHITECTURES or sys.maxsize < 2**32:
        return False
    program = filter_of(machine)
    code = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HP", len(program) // 8, ctypes.addressof(code))  # a sock_fprog
    return ctypes.CDLL(None).prctl(SET_SECCOMP, FILTER, described, 0, 0) == 0
