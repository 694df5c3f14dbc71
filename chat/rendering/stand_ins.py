"""The source that the parser is shown: with stand-ins for the marks that mean nothing in their places."""

from .emphasis import amended
from .links import hide_marks
from .tables import shaped


def for_parser(source: str) -> str:
    return amended(shaped(hide_marks(source)))
