"""The models this site offers, from its settings and from Cloudflare; imports models and upstream."""
