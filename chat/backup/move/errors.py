"""The error of a move."""


class MoveError(Exception):
    """A move cannot begin, go on or end. The message is a whole sentence."""
