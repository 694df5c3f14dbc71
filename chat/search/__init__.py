"""Full-text search: the words of texts, their index in SQLite and PostgreSQL, queries and results."""
