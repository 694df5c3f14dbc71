"""Ownership of runs: leases, heartbeats, journals, recovery. Imports only `chat.models` and below."""
