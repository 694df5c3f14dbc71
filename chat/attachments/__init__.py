"""Pictures: received, decoded and encoded again in a child process, stored by the hash of their content."""
