"""The tasks that stream from a model and store the text: of the engine they know `streaming` and `titles`."""
