"""The API for programs: OpenAI's chat API and Workers AI's own (the dialects), one module each."""
