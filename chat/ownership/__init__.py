"""Ownership of runs: leases, heartbeats, journals, recovery of orphaned runs; imports models only."""
