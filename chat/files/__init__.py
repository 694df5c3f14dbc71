"""Pictures and documents: received, read in a child process, stored by the hash of their content."""
