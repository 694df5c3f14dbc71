"""The start of a child process that reads one file of unknown origin. Run as a script, with `-I`.

    process.py PROGRAM UNCONFINED ADDRESS_SPACE_BYTES CPU_SECONDS [ARGUMENT …]

PROGRAM is a module of this project, whose `main` is called, or the path of a script. Before, the limits of
`isolation.py` are set, so that a parser that is exploited or runs wild meets them: before any byte of the
file, which is the standard input, is read. If the kernel cannot set them, UNCONFINED decides: "refuse" ends
the child with one of `UNCONFINED_EXITS`, "warn" goes on. The child knows nothing of the site: no settings, no
environment, no network.
"""

import importlib
import os
import sys

PROJECT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))


def main() -> None:
    program, unconfined, address_space_bytes, cpu_seconds, *arguments = sys.argv[1:]
    # The folder holds the data of the site as well, so only the package of the module stays readable.
    sys.path.insert(0, PROJECT)
    from chat.files.confined import isolation

    isolation.limit_resources(int(address_space_bytes), int(cpu_seconds))
    is_script = program.endswith(".py")
    module = None if is_script else importlib.import_module(program)
    sys.path.remove(PROJECT)
    lacking = isolation.isolate(program if is_script else os.path.join(PROJECT, program.partition(".")[0]))
    if lacking and unconfined == "refuse":
        sys.exit(isolation.UNCONFINED_EXITS[lacking])
    sys.argv = [program, *arguments]
    if module:
        module.main()
    else:
        import runpy  # half of the time that this process takes to start

        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
