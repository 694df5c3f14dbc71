"""A command in a forked process ends as one in a process of its own."""

import pytest

from tests.support.manage import run_manage


@pytest.mark.parametrize("end", ["pass", "sys.exit(3)", "sys.exit('No.')"])
def test_it_says_the_same_and_has_the_same_exit_code(end: str) -> None:
    code = f"import sys; print('Naïve'); print('Hm', file=sys.stderr); {end}"
    forked = run_manage("shell", "-v0", "-c", code)
    afresh = run_manage("shell", "-v0", "-c", code, afresh=True)
    assert afresh.stdout == "Naïve\n"
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        afresh.returncode,
        afresh.stdout,
        afresh.stderr,
    )


def test_an_error_is_shown_and_its_exit_code_is_one() -> None:
    done = run_manage("shell", "-v0", "-c", "1 / 0")
    assert done.returncode == 1
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_it_has_its_own_environment() -> None:
    code = "import os, sys; print(os.environ['SITE_NAME'], sys.argv[0])"
    assert run_manage("shell", "-v0", "-c", code, SITE_NAME="Ours").stdout == "Ours manage.py\n"
