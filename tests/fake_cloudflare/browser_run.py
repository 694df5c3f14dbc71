"""Cloudflare's Browser Run of the fake, its call `/content`: what it shows, and what Cloudflare refuses.

An address that holds `fake-429` is over the limit, one with `fake-5005` or another code fails with that
error, `fake-slow` is answered after a minute, `fake-huge` has four megabytes and `fake-empty` no text.
https://developers.cloudflare.com/browser-run/reference/errors/
"""

import re
from typing import Any
from urllib.parse import urlsplit

PATH = re.compile(r"/client/v4/accounts/[^/]+/browser-rendering/content")
NO_PERMISSION = "fake-token-without-gateway"  # a token for Workers AI alone
FIELDS = {
    "url", "html", "actionTimeout", "addScriptTag", "addStyleTag", "allowRequestPattern",
    "allowResourceTypes", "authenticate", "bestAttempt", "cookies", "emulateMediaType", "gotoOptions",
    "rejectRequestPattern", "rejectResourceTypes", "setExtraHTTPHeaders", "setJavaScriptEnabled", "userAgent",
    "viewport", "waitForSelector", "waitForTimeout",
}  # fmt: skip
RESOURCE_TYPES = {
    "document", "stylesheet", "image", "media", "font", "script", "texttrack", "xhr", "fetch", "prefetch",
    "eventsource", "websocket", "manifest", "signedexchange", "ping", "cspviolationreport", "preflight",
    "other",
}  # fmt: skip
WAITING = {"load", "domcontentloaded", "networkidle0", "networkidle2"}
MAX_MILLISECONDS = 60_000
WANTED_ERROR = re.compile(r"fake-(\d+)")
MESSAGES = {
    429: (429, 2001, "Rate limit exceeded"),
    5005: (400, 5005, "net::ERR_NAME_NOT_RESOLVED"),
    6002: (422, 6002, "Navigation timeout of 8000 ms exceeded"),
    2000: (500, 2000, "Internal Error"),
}
USED = [("X-Browser-Ms-Used", "2000")]
SHOWN = (
    "<!doctype html><html><head><title>Tides</title><script src='/app.js'></script></head><body><main>"
    "<h1>Tides</h1><p>{}</p><a href='/more'>More</a><p style='display:none'>Hidden words.</p></main></body>"
)
TEXT = "High water is at noon today, and again shortly after midnight. " * 8
Response = tuple[int, object, list[tuple[str, str]]]


def content(token: str, body: object) -> Response:
    """Return the status, the body and the headers of the response. A missing permission is told first."""
    if token == NO_PERMISSION:
        return refused(401, 10000, "Authentication error")
    if not isinstance(body, dict) or (wrong := _wrong_field(body)):
        return refused(400, 7001, f"Bad Request: {'body' if not isinstance(body, dict) else wrong}")
    if "html" in body:
        return _shown(body["html"], "")
    url = body["url"]
    if found := WANTED_ERROR.search(url):
        return refused(*MESSAGES[int(found[1])])
    if "fake-empty" in url:
        return _shown("<html><body><div id='app'></div><script></script></body></html>", "")
    if "fake-huge" in url:
        return _shown("<p>" + "x" * 4_000_000, "")
    return _shown(SHOWN.format(TEXT), "Tides")


def refused(status: int, code: int, message: str) -> Response:
    headers = [("Retry-After", "10")] if status == 429 else []
    return status, {"success": False, "errors": [{"code": code, "message": message}]}, headers


def _shown(html: str, title: str) -> Response:
    return 200, {"success": True, "result": html, "meta": {"status": 200, "title": title}}, USED


def _wrong_field(body: dict[str, Any]) -> str:
    """Return the name of the first field that is wrong; "" if none is."""
    if unknown := body.keys() - FIELDS:
        return min(unknown)
    if ("url" in body) == ("html" in body):
        return "url"
    url, html, options = (
        body.get("url", "https://a.example/"),
        body.get("html", ""),
        body.get("gotoOptions", {}),
    )
    if (
        not isinstance(url, str)
        or urlsplit(url).scheme not in ("http", "https")
        or not urlsplit(url).hostname
    ):
        return "url"
    if not isinstance(html, str):
        return "html"
    if not isinstance(options, dict) or options.get("waitUntil", "load") not in WAITING:
        return "gotoOptions"
    timeout = options.get("timeout", 0)
    if not isinstance(timeout, int) or not 0 <= timeout <= MAX_MILLISECONDS:
        return "gotoOptions"
    if not isinstance(body.get("bestAttempt", True), bool):
        return "bestAttempt"
    types = body.get("rejectResourceTypes", [])
    return "" if isinstance(types, list) and set(types) <= RESOURCE_TYPES else "rejectResourceTypes"
