"""The models this site offers, from its settings and Cloudflare's list; imports models and upstream."""
