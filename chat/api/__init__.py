"""What programs call: OpenAI's chat API and Workers AI's own, each in its own words. One dialect a file."""
