"""The protocol of ownership on virtual time: processes, a database and a network that a seed breaks."""
