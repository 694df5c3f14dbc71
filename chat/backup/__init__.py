"""Backup, verification and restore of a site, and detection of a damaged database."""
