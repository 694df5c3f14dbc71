"""The start of a child process that reads one file of unknown origin. Run as a script, with `-I`.

    confined_process.py PROGRAM ADDRESS_SPACE_BYTES CPU_SECONDS [ARGUMENT …]

It sets the limits below, then runs PROGRAM, so that a parser that is exploited or runs wild meets them.
They are set before any byte of the file, which is the standard input, is read. It knows nothing of the site:
no settings, no environment, no network.
"""

import contextlib
import os
import resource
import runpy
import sys


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


def main() -> None:
    program, address_space_bytes, cpu_seconds, *arguments = sys.argv[1:]
    limit_resources(int(address_space_bytes), int(cpu_seconds))
    sys.argv = [program, *arguments]
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
