"""Copies of the database that are verified, the way back from them, and how damage is noticed."""
