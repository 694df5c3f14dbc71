"""The pictures of the README, and the icons."""

PICTURES, ICONS = "deploy/images", "static/img"
MADE = ("chat-light.webp", "chat-dark.webp", "phone.webp", "review.webp", "reply.webp", "reply-still.webp")
DRAWN = ("way.svg",)  # by hand
