"""Citation marks of ChatGPT: what stands in a text for sources, names and pictures that its page draws.

The newer ones are a kind and its arguments between private-use characters, such as `cite` and `turn0search0`;
the older ones look like 【4†source】. A mark becomes its words and a link, and is never removed with words.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from chat.wire import strict_json

from . import foreign
from .drafts import Draft

BEGIN, END, SEPARATOR = "\ue200", "\ue201", "\ue202"
MARK = re.compile(
    rf"{BEGIN}(?P<new>[^{BEGIN}{END}]*){END}"
    rf"|{BEGIN}(?P<cut>[a-z_]{{1,30}}(?:{SEPARATOR}[^\s{BEGIN}{END}]{{0,200}})?)\Z"
    r"|【(?P<old>[0-9]{1,9}(?::[0-9]{1,9})?†[^【】]{0,500})】"
    r"|:contentReference\[[^\]\n]{0,50}\](?:\{[^}\n]{0,50}\})?"
    "|[\ue200-\ue20f]"  # alone, it begins or ends a highlighted passage
)
# What stands beside the words: ids of sources and lines of them.
ID = re.compile(r"(?:turn[0-9]+[a-z_]*[0-9]*(?:-[0-9]+)?|L[0-9]+(?:-L?[0-9]+)?|source)(?:,\s*|$)")
NAMES = ("name", "title", "attribution", "source_name")
ADDRESSES = ("url", "link", "website_url", "content_url", "image_url")
PASSAGES = ("snippet", "text", "evidence_text", "description")
LISTS = ("items", "sources", "products", "images", "businesses", "videos", "fallback_items")
WORDS = ("selections", "query", "title", "name", "label", "text", "prompt")  # of arguments that are objects
EMPTY_LINK = re.compile(r"\[([^\[\]]*)\]\(\)")


def replaced(text: str, about: dict[str, Any], draft: Draft) -> str:
    """Return the text with words and links for its marks, and add its sources. `about`: its metadata."""
    known: dict[str, tuple[str, str]] = {}  # of a mark: its alternative text, and links
    for reference in foreign.objects(about.get("content_references")):
        cite(reference, draft)
        alternative = EMPTY_LINK.sub(r"\1", foreign.text(reference.get("alt")).strip())
        known.setdefault(foreign.text(reference.get("matched_text")), (alternative, _links(reference)))
    for citation in foreign.objects(about.get("citations")):
        source = foreign.fields(citation.get("metadata"))
        extra = foreign.fields(source.get("extra"))
        cite(source | {"snippet": extra.get("evidence_text")}, draft)
        start, end = citation.get("start_ix"), citation.get("end_ix")
        if isinstance(start, int) and isinstance(end, int):
            known.setdefault(text[max(0, start) : max(0, end)].strip(), ("", link(source)))
        known.setdefault(f"†{extra.get('cited_message_idx')}", ("", link(source)))

    def shown(mark: re.Match[str]) -> str:
        words = _shown(mark, known, draft)
        is_apart = text[max(0, mark.start() - 1) : mark.start()] in ("", " ", "\n", "(", "[")
        return words if is_apart or not words.startswith(("(", "[")) else f" {words}"

    return MARK.sub(shown, text)


def cite(reference: dict[str, Any], draft: Draft) -> None:
    """Add the sources that a reference names: itself, and those in its lists."""
    for each in (reference, *_listed(reference)):
        if foreign.first(each, *ADDRESSES) or each.get("type") == "file":
            draft.cite(
                foreign.first(each, *NAMES),
                foreign.first(each, *ADDRESSES),
                foreign.first(each, *PASSAGES).strip(),
            )


def _listed(reference: dict[str, Any]) -> list[dict[str, Any]]:
    found = [each for name in LISTS for each in foreign.objects(reference.get(name))]
    return found + [more for each in found for more in foreign.objects(each.get("supporting_websites"))]


def _links(reference: dict[str, Any]) -> str:
    """Return links to what a reference lists, or to itself; only names where there are no addresses."""
    return ", ".join(dict.fromkeys(filter(None, map(link, _listed(reference))))) or link(reference)


def link(reference: dict[str, Any]) -> str:
    return foreign.link(foreign.first(reference, *NAMES), foreign.first(reference, *ADDRESSES))


def _shown(mark: re.Match[str], known: dict[str, tuple[str, str]], draft: Draft) -> str:
    """Return what stands for a mark: what its reference says, and the words in it."""
    alternative, links = known.get(mark[0], ("", ""))
    if old := mark["old"]:
        number, *words = old.split("†")
        links = (
            links
            or known.get(f"†{number.partition(':')[0]}", ("", ""))[1]
            or foreign.escaped(", ".join(_plain(words)))
        )
        return f"({links})" if links else f"[{number}]"
    new = mark["new"] or mark["cut"]
    if alternative or new is None:
        return alternative
    kind, arguments = _arguments(new)
    said = KINDS.get(kind, _joined)(arguments)
    if kind == IMAGES and not links:
        draft.leave_out_file(said or IMAGES)
    elif not said and not links:
        draft.leave_out("source", new.replace(SEPARATOR, " "))
    if not links:
        return said
    return links if said and said in links else f"{said} ({links})".lstrip()


def _arguments(new: str) -> tuple[str, list[Any]]:
    """Return the kind of a newer mark and its arguments, of which some are JSON."""
    kind = re.match("[a-z_]*", new)
    assert kind
    found: list[Any] = []
    for each in new[kind.end() :].removeprefix(SEPARATOR).split(SEPARATOR):
        try:
            found.append(strict_json.loads(each.encode(), max_depth=8) if each[:1] in ("[", "{") else each)
        except strict_json.InvalidJSON:
            found.append(each)
    return kind[0], found


def _joined(arguments: list[Any]) -> str:
    return ", ".join(_plain(arguments))


def _entity(arguments: list[Any]) -> str:
    """Return the name in a list of category, name and explanation."""
    found = arguments[0] if arguments and isinstance(arguments[0], list) else arguments
    return foreign.escaped(foreign.text(found[1]) if len(found) > 1 else _joined(found))


IMAGES = "image_group"
KINDS: dict[str, Callable[[list[Any]], str]] = {
    "entity": _entity,
    "url": lambda arguments: foreign.link(_joined(arguments[:-1]), foreign.text(arguments[-1])),
    IMAGES: lambda arguments: f"[pictures: {words}]" if (words := _joined(arguments)) else "",
}


def _plain(arguments: Iterable[Any]) -> list[str]:
    """Return the words in the arguments of a mark, without ids."""
    words: list[str] = []
    for each in arguments:
        if isinstance(each, dict):
            words += _plain([each[name] for name in WORDS if name in each] or list(each.values()))
        elif isinstance(each, list):
            words += _plain(each)
        elif isinstance(each, str) and (word := ID.sub("", foreign.one_line(each))):
            words.append(word)
    return words
