"""Patches of Daphne, Twisted and Django's ASGI handler.

Each module says what it patches, what that buys, where it was reported, and when it can go. The figures are
ratios of CPU time, measured on a busy machine. tests/test_server_patches.py notices when what is patched
changes upstream.
"""
