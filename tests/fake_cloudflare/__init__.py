"""Cloudflare on loopback: it sends every frame, and refuses what Cloudflare refuses."""
