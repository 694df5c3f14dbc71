"""From a validated request to committed rows, synchronously. Imports only `model_catalog` and below."""
