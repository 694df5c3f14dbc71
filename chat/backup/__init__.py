"""Backup, restore and move of a site, and detection of a damaged database."""
