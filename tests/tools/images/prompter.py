"""The model in the pictures: it knows what to answer, and says it no further than it is let."""

import asyncio
import sys

from tests.fake_cloudflare import frames
from tests.fake_cloudflare.run import Run
from tests.tools.images.sample_replies import REPLIES

PACE = 0.012  # seconds a word, about what Workers AI needs
POLL = 0.005  # seconds
ALL = sys.maxsize


class Prompter:
    """Set `let` from any thread: so many words of a reply may be said."""

    def __init__(self) -> None:
        self.let = ALL

    async def play(self, run: Run) -> None:
        """Play the texts of the pictures, in place of the fake's scenarios."""
        run.open()
        words = frames.tokens_of(REPLIES[run.question].rstrip())
        opening, *rest = frames.catalog(words, run.prompt_tokens)
        run.connection.write(opening)
        for number, piece in enumerate(rest, 1):
            while number > self.let:  # noqa: ASYNC110 - another thread sets it
                await asyncio.sleep(POLL)
            run.connection.write(piece)
            if self.let == ALL:
                await asyncio.sleep(PACE)
        run.connection.end()
