"""Turn a validated request into committed rows, synchronously."""
