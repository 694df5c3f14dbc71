"""How long a reply is waited for, and how often it is asked for again."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .errors import UpstreamError

# Asked before each further call: rests for so many seconds, and says whether the call may be made.
Again = Callable[[UpstreamError, float], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds, measured on what the model says: bytes that carry no token are no sign of life."""

    first_token: float = 120.0
    unstreamed: float = 250.0  # a whole answer at once; Cloudflare itself gives up after 240
    between_tokens: float = 60.0
    whole: float = 600.0


@dataclass(frozen=True, slots=True)
class Retries:
    """At most `most`, after a random pause of up to `base` seconds, doubled each time; `longest` in all.

    `elsewhere`: somebody on the way asks again already, so what was refused is not asked for again here.
    """

    most: int = 2
    base: float = 2.0
    longest: float = 15.0
    elsewhere: bool = False


async def rest(error: UpstreamError, seconds: float) -> bool:
    """Nobody minds a further call."""
    await asyncio.sleep(seconds)
    return True
