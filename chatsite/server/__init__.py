"""Patches of Daphne, Twisted and Django's ASGI handler.

Each module states its patch, the gain, the upstream report, and the condition for its removal. The figures
are ratios of CPU time, measured on a busy machine. tests/test_server_patches.py fails when the patched code
changes upstream.
"""
