"""Limits that several packages share."""

MEGABYTE = 1_000_000  # bytes
MAX_BODY_BYTES = 1_048_576  # of a request, without the files in it
MAX_REPLY_CHARS = 400_000  # code points of a run's text and of its reasoning; of both together for a call
MAX_MODEL_CHARS = 200  # of a model's id, as the columns hold
MAX_LIVE_RUNS = 1_500  # per process, and as many calls; further runs are queued, further calls refused
