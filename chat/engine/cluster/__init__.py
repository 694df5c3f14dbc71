"""What server processes tell each other about their runs; imports generation and what is below it."""
