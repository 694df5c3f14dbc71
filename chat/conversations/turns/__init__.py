"""Turn a validated request into committed rows, synchronously. Imports only `model_catalog` and below."""
