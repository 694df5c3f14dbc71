"""The body of the last call upstream."""

from typing import Any

from tests.fake_cloudflare.server import Fake


def messages(fake: Fake) -> list[tuple[str, str]]:
    """Role and content of each message."""
    return [(each["role"], each["content"]) for each in fake.calls[-1]["body"]["messages"]]


def sent(fake: Fake) -> dict[str, Any]:
    """All fields except the messages."""
    return {
        name: value for name, value in fake.calls[-1]["body"].items() if name not in ("messages", "stream")
    }
