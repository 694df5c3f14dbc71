"""An upgrade under load: workers replaced while replies run and messages come."""
