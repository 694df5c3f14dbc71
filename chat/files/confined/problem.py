"""Words in place of a text: the refusal of a document, and sentences for pages without text."""

PICTURES_ONLY = "[This page holds no text, only pictures.]"
PICTURE_BESIDE = "[The rest of this page is a picture.]"
UNREADABLE_ONLY = "[The letters of this page can’t be read: its fonts don’t say what they are.]"
WITHOUT_TEXT = ("", PICTURES_ONLY, UNREADABLE_ONLY)


class Problem(Exception):
    """The reason why there is no text, or no picture: the value of `problem`."""
