"""Markdown to sanitised HTML, block by block: the same code for a page, a live stream and an export."""
