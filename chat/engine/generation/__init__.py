"""The tasks that stream from a model and store the text; imports streaming and what is below it."""
