"""The services that search the web: a module each."""

from chat.conversations.tools.web_search import SearchProvider


def provider(name: str) -> SearchProvider:
    """Return the provider of this name, imported now."""
    if name == "searxng":
        from .searxng import SearXNG

        return SearXNG()
    if name == "brave":
        from .brave import Brave

        return Brave()
    from .cloudflare import CloudflareSearch

    return CloudflareSearch()
