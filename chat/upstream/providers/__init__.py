"""The requests to each kind of model server, and its other endpoints; imports upstream's data types only."""
