"""The child process that reads one file of unknown origin, and its readers, which know no site."""
