"""The refusal of a document by its reader."""


class Problem(Exception):
    """The reason why there is no text: the value of `problem`."""
