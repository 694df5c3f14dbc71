"""The site's own settings in the two languages of tests/support/pseudo_locale.py, for a server that a test
starts."""

from chatsite.settings import *  # noqa: F403
from tests.support import pseudo_locale

LANGUAGES = [
    ("en", "English"),
    (pseudo_locale.LONGER, "Pseudo"),
    (pseudo_locale.LEFTWARD, "Pseudo, right to left"),
]
pseudo_locale.install()
