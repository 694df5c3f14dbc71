"""Pruning: permanent deletion of old rows and files, each kind by its own setting, in short transactions."""
