"""The schema of a made-up next release: today's migrations, and one more that only adds."""
