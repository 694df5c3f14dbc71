"""The filter of system calls, for both architectures, run by an interpreter of its instructions."""

import errno
import os
import struct

import pytest

from chat.files.confined.system_calls import (
    ALLOW,
    ANY_BIT,
    ARCHITECTURES,
    EQUAL,
    LOAD,
    REFUSE,
    RETURN,
    filter_of,
)

X32 = 0x40000000
I386, ARM = 0x40000003, 0x40000028
PARENT, POINTER = 4_711, 0x7F00_0000_0000
FORK, VFORK, NEW_NAMESPACE = 17, 0x4111, 0x20000
ALLOWED = ALLOW
NOT_ALLOWED, UNKNOWN = REFUSE | errno.EPERM, REFUSE | errno.ENOSYS


def result(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """Return what the kernel makes of a call with this number and these arguments."""
    values = [argument % 2**64 for argument in (*arguments, *[0] * (6 - len(arguments)))]
    data = struct.pack("=IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *values)
    program = list(struct.iter_unpack("=HBBI", filter_of(machine)))
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        if code == RETURN:
            return int(value)
        if code == LOAD:
            (accumulator,) = struct.unpack_from("=I", data, value)
        else:
            is_true = {EQUAL: accumulator == value, ANY_BIT: bool(accumulator & value)}[code]
            at += if_true if is_true else if_false


@pytest.mark.parametrize(
    ("name", "x86_64", "aarch64", "arguments", "expected"),
    [
        ("read", 0, 63, (0,), ALLOWED),
        ("openat for reading", 257, 56, (-100, POINTER, os.O_RDONLY | os.O_CLOEXEC), ALLOWED),
        ("openat for writing", 257, 56, (-100, POINTER, os.O_WRONLY), NOT_ALLOWED),
        ("openat for both", 257, 56, (-100, POINTER, os.O_RDWR), NOT_ALLOWED),
        ("openat that makes", 257, 56, (-100, POINTER, os.O_CREAT), NOT_ALLOWED),
        ("openat that truncates", 257, 56, (-100, POINTER, os.O_TRUNC), NOT_ALLOWED),
        ("open for reading", 2, None, (POINTER, os.O_RDONLY), ALLOWED),
        ("open for writing", 2, None, (POINTER, os.O_WRONLY), NOT_ALLOWED),
        ("creat", 85, None, (POINTER,), NOT_ALLOWED),
        ("openat2", 437, 437, (-100, POINTER), NOT_ALLOWED),
        ("open_by_handle_at", 304, 265, (), NOT_ALLOWED),
        ("write to the output", 1, 64, (1, POINTER, 9), ALLOWED),
        ("write into the input", 1, 64, (0, POINTER, 9), NOT_ALLOWED),
        ("write elsewhere", 1, 64, (3, POINTER, 9), NOT_ALLOWED),
        ("writev to the messages", 20, 66, (2, POINTER, 9), ALLOWED),
        ("writev elsewhere", 20, 66, (3, POINTER, 9), NOT_ALLOWED),
        ("pwrite64", 18, 68, (1,), NOT_ALLOWED),
        ("ftruncate", 77, 46, (0, 0), NOT_ALLOWED),
        ("fchmod", 91, 52, (0, 0o777), NOT_ALLOWED),
        ("fchmodat", 268, 53, (-100, POINTER, 0o777), NOT_ALLOWED),
        ("fchmodat2", 452, 452, (-100, POINTER, 0o777), NOT_ALLOWED),
        ("fchownat", 260, 54, (), NOT_ALLOWED),
        ("utimensat", 280, 88, (), NOT_ALLOWED),
        ("fsetxattr", 190, 7, (), NOT_ALLOWED),
        ("setxattrat", 463, 463, (), NOT_ALLOWED),
        ("private mapping", 9, 222, (0, 4_096, 3, 0x22, -1, 0), ALLOWED),
        ("shared mapping", 9, 222, (0, 4_096, 3, 0x01, 0, 0), NOT_ALLOWED),
        ("shared mapping, checked", 9, 222, (0, 4_096, 3, 0x03, 0, 0), NOT_ALLOWED),
        ("question for a terminal", 16, 29, (0, 0x5401), ALLOWED),
        ("typing into a terminal", 16, 29, (0, 0x5412), NOT_ALLOWED),
        ("flags of a descriptor", 72, 25, (0, 1), ALLOWED),
        ("signals of a descriptor", 72, 25, (0, 8, PARENT), NOT_ALLOWED),
        ("lease", 72, 25, (0, 1_024), NOT_ALLOWED),
        ("thread of glibc", 56, 220, (0x3D0F00,), ALLOWED),
        ("thread of musl", 56, 220, (0x7D0F00,), ALLOWED),
        ("fork", 56, 220, (FORK,), NOT_ALLOWED),
        ("vfork by clone", 56, 220, (VFORK,), NOT_ALLOWED),
        ("thread in a name space", 56, 220, (0x3D0F00 | NEW_NAMESPACE,), NOT_ALLOWED),
        ("clone3", 435, 435, (POINTER, 88), UNKNOWN),
        ("fork, old", 57, None, (), NOT_ALLOWED),
        ("vfork, old", 58, None, (), NOT_ALLOWED),
        ("execve", 59, 221, (), NOT_ALLOWED),
        ("execveat", 322, 281, (), NOT_ALLOWED),
        ("own affinity, asked", 204, 123, (0, 128, POINTER), ALLOWED),
        ("another's affinity, asked", 204, 123, (PARENT, 128, POINTER), NOT_ALLOWED),
        ("affinity", 203, 122, (0,), NOT_ALLOWED),
        ("own timer", 38, 103, (1, POINTER, 0), ALLOWED),
        ("own limit, asked", 302, 261, (0, 7, 0, POINTER), ALLOWED),
        ("own limit, set", 302, 261, (0, 7, POINTER, 0), NOT_ALLOWED),
        ("own limit, set from a round address", 302, 261, (0, 7, 2**32, 0), NOT_ALLOWED),
        ("another's limit, asked", 302, 261, (PARENT, 0, 0, POINTER), NOT_ALLOWED),
        ("another's limit, set", 302, 261, (PARENT, 0, POINTER, 0), NOT_ALLOWED),
        ("setrlimit", 160, 164, (), NOT_ALLOWED),
        ("setpriority", 141, 140, (), NOT_ALLOWED),
        ("sched_setscheduler", 144, 119, (), NOT_ALLOWED),
        ("sched_setattr", 314, 274, (), NOT_ALLOWED),
        ("ioprio_set", 251, 30, (), NOT_ALLOWED),
        ("kill", 62, 129, (PARENT, 9), NOT_ALLOWED),
        ("tgkill", 234, 131, (PARENT, PARENT, 9), NOT_ALLOWED),
        ("tkill", 200, 130, (), NOT_ALLOWED),
        ("rt_sigqueueinfo", 129, 138, (), NOT_ALLOWED),
        ("pidfd_open", 434, 434, (), NOT_ALLOWED),
        ("pidfd_send_signal", 424, 424, (), NOT_ALLOWED),
        ("pidfd_getfd", 438, 438, (), NOT_ALLOWED),
        ("ptrace", 101, 117, (), NOT_ALLOWED),
        ("process_vm_readv", 310, 270, (), NOT_ALLOWED),
        ("process_madvise", 440, 440, (), NOT_ALLOWED),
        ("kcmp", 312, 272, (), NOT_ALLOWED),
        ("move_pages", 279, 239, (), NOT_ALLOWED),
        ("socket", 41, 198, (), NOT_ALLOWED),
        ("socketpair", 53, 199, (), NOT_ALLOWED),
        ("connect", 42, 203, (), NOT_ALLOWED),
        ("listen", 50, 201, (), NOT_ALLOWED),
        ("accept4", 288, 242, (), NOT_ALLOWED),
        ("sendto", 44, 206, (), NOT_ALLOWED),
        ("sendmsg", 46, 211, (), NOT_ALLOWED),
        ("shmget", 29, 194, (), NOT_ALLOWED),
        ("shmat", 30, 196, (), NOT_ALLOWED),
        ("semget", 64, 190, (), NOT_ALLOWED),
        ("msgget", 68, 186, (), NOT_ALLOWED),
        ("mq_open", 240, 180, (), NOT_ALLOWED),
        ("io_uring_setup", 425, 425, (), NOT_ALLOWED),
        ("io_setup", 206, 0, (), NOT_ALLOWED),
        ("unshare", 272, 97, (), NOT_ALLOWED),
        ("setns", 308, 268, (), NOT_ALLOWED),
        ("mount", 165, 40, (), NOT_ALLOWED),
        ("chroot", 161, 51, (), NOT_ALLOWED),
        ("keyctl", 250, 219, (), NOT_ALLOWED),
        ("add_key", 248, 217, (), NOT_ALLOWED),
        ("bpf", 321, 280, (), NOT_ALLOWED),
        ("userfaultfd", 323, 282, (), NOT_ALLOWED),
        ("perf_event_open", 298, 241, (), NOT_ALLOWED),
        ("prctl", 157, 167, (), NOT_ALLOWED),
        ("seccomp", 317, 277, (), NOT_ALLOWED),
        ("setuid", 105, 146, (), NOT_ALLOWED),
        ("capset", 126, 91, (), NOT_ALLOWED),
        ("memfd_create", 319, 279, (), NOT_ALLOWED),
        ("read of x32", X32, None, (0,), NOT_ALLOWED),
        ("socket of x32", X32 | 41, None, (), NOT_ALLOWED),
        ("execve of x32", X32 | 520, None, (), NOT_ALLOWED),
        ("a call of tomorrow", 999, 999, (), NOT_ALLOWED),
    ],
)
def test_a_call_is_allowed_or_not(
    name: str, x86_64: int, aarch64: int | None, arguments: tuple[int, ...], expected: int
) -> None:
    assert result("x86_64", x86_64, *arguments) == expected
    if aarch64 is not None:
        assert result("aarch64", aarch64, *arguments) == expected


@pytest.mark.parametrize(("machine", "other"), [("x86_64", I386), ("aarch64", ARM)])
def test_calls_of_another_architecture_are_refused(machine: str, other: int) -> None:
    """Their numbers mean other calls: 3 is `close` on x86_64, 57 on aarch64."""
    close = {"x86_64": 3, "aarch64": 57}[machine]
    assert result(machine, close) == ALLOWED
    assert result(machine, close, architecture=other) == NOT_ALLOWED
