"""Documents in prompts: their text whole, or those parts that are the best for a question."""
