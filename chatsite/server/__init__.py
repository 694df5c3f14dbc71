"""Patches of Daphne and Twisted, and the processes that serve.

Each patch states the gain, the upstream report, and the condition for its removal. Figures without a unit are
ratios of CPU time, measured on a busy machine. tests/test_server_patches.py fails when the patched code
changes upstream, also that of `chatsite.asgi` and `chatsite.middleware`.
"""
