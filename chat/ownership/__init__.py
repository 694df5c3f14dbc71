"""Ownership of runs: leases, heartbeats, journals, recovery."""
