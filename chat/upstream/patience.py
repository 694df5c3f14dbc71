"""How long a reply is waited for, and how often it is asked for again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds, measured on what the model says: bytes that carry no token are no sign of life."""

    first_token: float = 120.0
    between_tokens: float = 60.0
    whole: float = 600.0


@dataclass(frozen=True, slots=True)
class Retries:
    """At most `most`, after a random pause of up to `base` seconds, doubled each time; `longest` in all."""

    most: int = 2
    base: float = 2.0
    longest: float = 15.0
