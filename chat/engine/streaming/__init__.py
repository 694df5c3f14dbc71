"""A run's growing text in memory and the SSE feeds that show it; imports the run outcome."""
