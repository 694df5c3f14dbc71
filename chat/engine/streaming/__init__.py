"""The growing text of a run in memory, and its SSE feeds. Imports only `engine.outcome` and below."""
