"""What several rooms of tests share: servers, databases, people, waiting."""
