"""Sentences that stand for pages without text. They are a part of the text that models get."""

PICTURES_ONLY = "[This page holds no text, only pictures.]"
PICTURE_BESIDE = "[The rest of this page is a picture.]"
