"""Sentences that stand for pages without text. They are a part of the text that models get."""

PICTURES_ONLY = "[This page holds no text, only pictures.]"
PICTURE_BESIDE = "[The rest of this page is a picture.]"
UNREADABLE_ONLY = "[The letters of this page can’t be read: its fonts don’t say what they are.]"
WITHOUT_TEXT = ("", PICTURES_ONLY, UNREADABLE_ONLY)
