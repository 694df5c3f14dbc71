"""The tasks that stream from a model and store the text. Imports only `engine.streaming` and below."""
