"""From a validated request to committed rows, synchronously; imports the model catalog and below."""
