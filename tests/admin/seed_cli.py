"""Seeds for a running server's database, sown by a process of the site's own."""

from tests.support import forkserver
from tests.support.server import Server


def plant(server: Server, script: str) -> list[str]:
    """Run `script` with the names of `tests.admin.seed`; the words that it prints."""
    whole = f"from tests.admin.seed import *\n{script}"
    done = forkserver.run(server.env, ("shell", "-v0", "-c", whole))
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
