"""The site's own settings, in an environment that no developer's `.env` or account can reach into."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from chatsite import env
from tests.support.databases import POSTGRES, SETTINGS

folder = tempfile.mkdtemp(prefix="chat-tests-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)

for setting in SETTINGS:
    os.environ.pop(setting, None)
env.ENV_FILE = Path(os.devnull)
os.environ["DATA_DIR"] = folder
# The processes of pytest-xdist do not have its arguments; tests/conftest.py passes this one on.
if "--database=postgres" in sys.argv or os.environ.get("CHAT_TESTS_DATABASE") == "postgres":
    os.environ["DATABASE_URL"] = POSTGRES

from chatsite.settings import *  # noqa: E402, F403 - only now that the environment is ours
from chatsite.settings import DATABASES, PASSWORD_HASHERS, STORAGES  # noqa: E402

# A file, not memory: several threads and processes must see it, under the locks of the real one.
if "sqlite" in DATABASES["default"]["ENGINE"]:
    DATABASES["default"]["TEST"] = {"NAME": f"{folder}/test.sqlite3"}
# Pages are tested without a collectstatic before; tests/test_static.py tests the real storage.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
PASSWORD_HASHERS = ["tests.support.cheap_hasher.CheapHasher", *PASSWORD_HASHERS[1:]]
