"""The move of a whole site from one database to another, such as from SQLite to PostgreSQL."""
