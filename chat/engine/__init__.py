"""The streaming core: runs as tasks of the server, and those who watch them."""
