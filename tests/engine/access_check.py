"""The time in which an open stream ends after its reader loses access."""

from chat.engine.access_monitor import CHECK_INTERVAL_SECONDS

# Seconds: more than one interval plus what a busy machine needs, and less than two intervals.
ONE_CHECK = CHECK_INTERVAL_SECONDS + 3.5
