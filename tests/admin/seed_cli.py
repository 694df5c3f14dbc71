"""Seeds for a running server's database, sown by a process of the site's own."""

import subprocess
import sys

from tests.support.databases import ROOT
from tests.support.server import Server


def plant(server: Server, script: str) -> list[str]:
    """Run `script` with the names of `tests.admin.seed`; the words that it prints."""
    whole = f"from tests.admin.seed import *\n{script}"
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", whole]
    done = subprocess.run(command, cwd=ROOT, env=server.env, check=True, capture_output=True, text=True)
    return done.stdout.split()
