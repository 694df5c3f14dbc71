"""The pictures of the README, in deploy/images."""

MADE = ("chat-light.webp", "chat-dark.webp", "phone.webp", "review.webp", "reply.webp", "reply-still.webp")
DRAWN = ("way.svg",)  # by hand
