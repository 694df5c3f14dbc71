"""Deeds that a file may try once it controls its reader. Run as a script with the arguments FOLDER PORT.

`test_confinement.py` has laid out FOLDER, and listens at PORT. Prints {deed: outcome} as JSON: "done", or the
name of the error's class.
"""

import ctypes
import json
import os
import socket
import sys
from typing import Any

MACHINE = os.uname().machine
MPTCP, FAST_OPEN, REMOVE = 262, 0x20000000, 0
libc = ctypes.CDLL(None, use_errno=True)

FILES = {
    "read": "open(FILE)",
    "list": "os.listdir(FOLDER)",
    "read the environment of the server": "open(f'/proc/{PARENT}/environ')",
    "read the memory of the server": "open(f'/proc/{PARENT}/mem', 'rb')",
    "write": "open(f'{FOLDER}/written', 'wb')",
    "open for writing": "os.open(FILE, os.O_WRONLY)",
    "open for both": "os.open(FILE, os.O_RDWR)",
    "truncate": "os.truncate(FILE, 3)",
    "truncate what it can read": "os.open(f'{FOLDER}/deeds.py', os.O_TRUNC)",
    "remove": "os.unlink(f'{FOLDER}/removed')",
    "rename": "os.rename(f'{FOLDER}/renamed', f'{FOLDER}/other')",
    "make a folder": "os.mkdir(f'{FOLDER}/folder')",
    "link": "os.link(FILE, f'{FOLDER}/link')",
    "symlink": "os.symlink('file', f'{FOLDER}/symlink')",
    "make a pipe": "os.mkfifo(f'{FOLDER}/pipe')",
    "chmod": "os.chmod(FILE, 0o644)",
    "chown": "os.chown(FILE, os.getuid(), -1)",
    "utime": "os.utime(FILE, (1, 1))",
    "setxattr": "os.setxattr(FILE, 'user.new', b'1')",
    "removexattr": "os.removexattr(FILE, 'user.there')",
    "write into the input": "os.pwrite(0, b'x', 0)",
    "append to the input": "os.write(0, b'x')",
    "map the input": "__import__('mmap').mmap(0, 1)",
    "cut the input": "os.ftruncate(0, 1)",
}
NETWORK = {
    "TCP": "connected(socket.SOCK_STREAM, 0)",
    "UDP": "connected(socket.SOCK_DGRAM, 0)",
    "MPTCP": "connected(socket.SOCK_STREAM, MPTCP)",
    "TCP Fast Open": "socket.socket().sendto(b'x', FAST_OPEN, ('127.0.0.1', PORT))",
    "listen without bind": "socket.socket().listen()",
    "Unix socket by its path": "socket.socket(socket.AF_UNIX).connect(f'{FOLDER}/socket')",
    "pair of sockets": "socket.socketpair()",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "packets": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
}
PROCESSES = {
    "signal": "os.kill(PARENT, 0)",
    "signal a thread": "system_call(234, 131, PARENT, PARENT, 0)",
    "open a process": "os.pidfd_open(PARENT)",
    "signals of a file": "__import__('fcntl').fcntl(0, 8, PARENT)",
    "ask for a limit": "__import__('resource').prlimit(PARENT, 4)",
    "set a limit": "__import__('resource').prlimit(PARENT, 4, __import__('resource').prlimit(PARENT, 4))",
    "set its own limit": "libc_call('setrlimit', 4, bytes(16))",
    "affinity": "os.sched_setaffinity(PARENT, os.sched_getaffinity(0))",
    "ask for the affinity": "os.sched_getaffinity(PARENT)",
    "priority": "os.setpriority(os.PRIO_PROCESS, PARENT, os.getpriority(os.PRIO_PROCESS, PARENT))",
    "scheduler": "os.sched_setscheduler(PARENT, os.SCHED_OTHER, os.sched_param(0))",
    "priority of its disk": "system_call(251, 30, 1, PARENT, 2 << 13 | 4)",
    "session": "os.getsid(PARENT)",
    "memory": "libc_call('process_vm_readv', PARENT, None, 0, None, 0, 0)",
    "fork": "os.waitpid(os.fork() or os._exit(0), 0)",
    "spawn": "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)",
    "trace": "libc_call('ptrace', 0, 0, None, None)",
    "name spaces": "libc_call('unshare', 0x10000000)",
}
KERNEL = {
    "shared memory": "libc_call('shmctl', libc_call('shmget', 0, 4_096, 0o600), REMOVE, None)",
    "semaphores": "libc_call('semctl', libc_call('semget', 0, 1, 0o600), 0, REMOVE)",
    "messages": "libc_call('msgctl', libc_call('msgget', 0, 0o600), REMOVE, None)",
    "POSIX messages": "libc_call('mq_open', b'/it', 0o102, 0o600, None) and libc.mq_unlink(b'/it')",
    "io_uring": "system_call(425, 425, 1, bytes(200))",
    "userfaultfd": "system_call(323, 282, 0)",
    "keys": "system_call(250, 219, 0, -3, 1)",
    "file in memory": "os.memfd_create('test')",
    "watch": "libc_call('inotify_init1', 0)",
    "personality": "libc_call('personality', 0xFFFFFFFF)",
    "prctl": "libc_call('prctl', 3, 0, 0, 0, 0)",
}
DEEDS = FILES | NETWORK | PROCESSES | KERNEL


def checked(result: int) -> int:
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result


def libc_call(name: str, *arguments: Any) -> int:
    return checked(getattr(libc, name)(*arguments))


def system_call(x86_64: int, aarch64: int, *arguments: Any) -> int:
    """Make the call of the number that it has on this architecture."""
    return checked(libc.syscall({"x86_64": x86_64, "aarch64": aarch64}[MACHINE], *arguments))


def connected(kind: int, protocol: int) -> None:
    with socket.socket(socket.AF_INET, kind, protocol) as one:
        one.settimeout(2)
        one.connect(("127.0.0.1", PORT))


def outcome(deed: str) -> str:
    try:
        eval(deed)
    except Exception as error:
        return type(error).__name__
    return "done"


if __name__ == "__main__":
    FOLDER, PORT, PARENT = sys.argv[1], int(sys.argv[2]), os.getppid()
    FILE = f"{FOLDER}/file"
    print(json.dumps({name: outcome(deed) for name, deed in DEEDS.items()}), flush=True)
