"""The requests to each kind of model server, and its other endpoints. They know no client and no routing."""
