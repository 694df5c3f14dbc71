"""Programs beside the tests: figures, pictures, audits."""
