"""The error of a move."""


class MoveError(Exception):
    """Raised when a move cannot begin, go on or end. The message is a whole sentence."""
