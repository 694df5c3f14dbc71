"""The streaming core: runs as asyncio tasks of the server, and the viewers who follow them."""
