"""The site's own settings in the two languages of tests/pseudo.py, for a server that a test starts."""

from chatsite.settings import *  # noqa: F403
from tests import pseudo

LANGUAGES = [("en", "English"), (pseudo.LONGER, "Pseudo"), (pseudo.LEFTWARD, "Pseudo, right to left")]
pseudo.install()
