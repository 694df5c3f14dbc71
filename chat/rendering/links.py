"""Links: the allowed destinations, the hosts they lead to, and the detection of bare ones in plain text."""

import datetime
import re
from html import escape
from urllib.parse import urlsplit

from .characters import BRACKET, END_BRACKET, STAR, TILDE, UNDERSCORE

MAX_URL_CHARS = 2_000  # a longer URL is not linked
STOPS = r"\s<>\"`\u3000-\u303f\uff00-\uffef"  # characters that end a bare URL, including CJK punctuation

_FOLLOWED = re.compile(r"https?://[^/?#\\]|mailto:.", re.IGNORECASE)
_AUTHORITY = re.compile(r"https?://([^/?#\\]*)", re.IGNORECASE)  # browsers treat “\” as “/”
_NAMED = r"((?:[\w-]+\.)+(?:com|org|net|gov|edu))|(?:https?://(?:www\.)?|www\.)((?:[\w-]+\.)+[a-z]+)"
_CLAIMED = re.compile(rf"\s*(?:{_NAMED})(?=[/:?#\s]|$)", re.IGNORECASE)
_BARE = re.compile(
    rf"(?<![A-Za-z0-9_/.:@-])(?i:https?://(?=[^\W_]|\[)|www\.(?=[^\W_]))[^{STOPS}]{{1,{MAX_URL_CHARS}}}"
    r"|(?<![A-Za-z0-9._+-])[A-Za-z0-9._+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+"
)
# Where Markdown goes on: the next cell of a table, a footnote, a link.
_AFTER = re.compile(r"[|]|\[\^|\[+[^\[\]]*\]+\(<?(?:https?:|mailto:|www\.)")
_ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_CHAT = re.compile(rf"/c/{_ID}/(?:\?at={_ID}#m-{_ID})?")  # the page of a person's chat, or a message of it
MAX_BEFORE_CHARS = 9
_AROUND = re.compile(r"[*~]+\Z")  # marks that enclose an address, and so end it
_DESTINATION = re.compile(r"(?:\]\(<?|\]:[ \t]*<?|<)\Z")
_MARK = re.compile(r"(?<!\\)[*_~\[\]]")
_HIDDEN = {"*": STAR, "_": UNDERSCORE, "~": TILDE, "[": BRACKET, "]": END_BRACKET}
_SQUARE = re.compile(r"[\[\]]")
_ENTITY = re.compile(r"&[A-Za-z0-9]{1,31};$")
_TRAILING = "?!.,:;*_~'\""


def is_web_address(text: str) -> bool:
    """Return True for an absolute http or https address, the only kind that a link may lead to."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and text.isprintable() and " " not in text


def is_source_address(text: str) -> bool:
    """Return True for what the link of a source may lead to: a web address, or a chat of the person's own."""
    return bool(_CHAT.fullmatch(text)) or is_web_address(text)


def is_source(url: str, date: str) -> bool:
    """Return True if both may stand in a source: an address or "", and an ISO 8601 date or ""."""
    try:
        return bool(not date or datetime.date.fromisoformat(date)) and (not url or is_source_address(url))
    except ValueError:
        return False


def address(destination: str) -> str | None:
    """Return an http, https or mailto URL in a form that is safe in a link.

    None for any other scheme, and for relative URLs, which would lead into this application.
    """
    if len(destination) > MAX_URL_CHARS or not _FOLLOWED.match(destination):
        return None
    return "".join(f"%{ord(c):02X}" if c <= " " or c == "\\" else c for c in destination)


def host(address: str) -> str:
    """Return the host that a browser would connect to; for a mailto URL the e-mail address."""
    found = _AUTHORITY.match(address)
    if found is None:
        return address.removeprefix("mailto:")
    return found[1].rpartition("@")[2].lower()


def is_deceptive(text: str, address: str) -> bool:
    """Return True if a link's text looks like a URL on another host than the one it leads to."""
    claimed = _CLAIMED.match(text)
    if claimed is None or address.lower().startswith("mailto:"):
        return False
    name = (claimed[1] or claimed[2]).lower().removeprefix("www.")
    return not f".{host(address).partition(':')[0]}".endswith(f".{name}")


def open_tag(address: str, kind: str = "", title: str = "") -> str:
    extra = f' class="{kind}"' if kind else ""
    if title:
        extra += f' title="{escape(title)}"'
    return f'<a href="{escape(address)}"{extra} target="_blank">'


def shown_host(address: str) -> str:
    return f'<span class="host">({escape(host(address), quote=False)})</span>'


def escaped(text: str) -> str:
    return escape(text, quote=False)


def _may_hold_address(text: str) -> bool:
    return "://" in text or "www." in text.lower()


def hide_marks(source: str) -> str:
    """Return the source with a stand-in for each mark of Markdown in a bare address."""
    if not _may_hold_address(source):
        return source
    return _BARE.sub(_without_marks, source)


def _without_marks(found: re.Match[str]) -> str:
    words, before = found[0], found.string[max(0, found.start() - MAX_BEFORE_CHARS) : found.start()]
    if not words.lower().startswith(("http", "www.")) or _DESTINATION.search(before):
        return words
    if around := _AROUND.search(before):
        words = words.partition(around[0])[0]
    shown, _ = _found(_AFTER.split(words, maxsplit=1)[0])
    return _MARK.sub(lambda mark: _HIDDEN[mark[0]], shown) + found[0][len(shown) :]


def autolink(text: str) -> str:
    """Return the text as HTML, with bare URLs and e-mail addresses as links (GitHub's extended autolinks)."""
    if "@" not in text and not _may_hold_address(text):
        return escaped(text)
    out, done = [], 0
    for match in _BARE.finditer(text):
        shown, destination = _found(match[0])
        target = address(destination)
        if target is None:
            continue
        out += [escaped(text[done : match.start()]), open_tag(target), escaped(shown), "</a>"]
        done = match.start() + len(shown)
    return "".join([*out, escaped(text[done:])])


def _found(words: str) -> tuple[str, str]:
    """Return (the part of `words` that is an address, its URL), with the URL "" if it is none: “www.x”."""
    if words.lower().startswith(("http://", "https://")):
        shown = _without_trailing(words)
        return shown, shown
    if words.lower().startswith("www."):
        shown = _without_trailing(words)
        return shown, f"http://{shown}" if "." in shown[4:] else ""
    return words, "" if words[-1] in "-_" else f"mailto:{words}"


def _without_trailing(shown: str) -> str:
    """Remove trailing punctuation of the surrounding sentence, and a bracket opened before the address."""
    depth = 0
    for bracket in _SQUARE.finditer(shown):
        depth += 1 if bracket[0] == "[" else -1
        if depth < 0:
            shown = shown[: bracket.start()]
            break
    surplus = {pair[1]: shown.count(pair[1]) - shown.count(pair[0]) for pair in ("()", "{}")}
    end = len(shown)
    while end:
        last = shown[end - 1]
        if last == ";" and (entity := _ENTITY.search(shown, max(0, end - 33), end)):
            end = entity.start()
        elif last in _TRAILING:
            end -= 1
        elif surplus.get(last, 0) > 0:
            end -= 1
            surplus[last] -= 1
        else:
            break
    return shown[:end]
