"""Run `manage.py` in a process of its own."""

import os
import subprocess
import sys

import chatsite.settings  # noqa: F401 - reads, and so registers, every setting
from chatsite import env
from tests.support import forkserver
from tests.support.databases import ROOT

READ_BY_THE_SITE = frozenset(env.SETTING_NAMES)


def run_manage(*arguments: str, afresh: bool = False, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command with these settings, the test's DATA_DIR and no `.env`.

    `afresh`: in a new interpreter, for tests of its memory or of the modules that it loads.
    """
    clean = {name: value for name, value in os.environ.items() if name not in READ_BY_THE_SITE}
    clean |= dict.fromkeys(READ_BY_THE_SITE, "")
    clean |= {"DATA_DIR": os.environ["DATA_DIR"], "DJANGO_SETTINGS_MODULE": "chatsite.settings"} | settings
    if not afresh:
        return forkserver.run(clean, arguments)
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=clean,
        capture_output=True,
        text=True,
        timeout=forkserver.PATIENCE,
    )
