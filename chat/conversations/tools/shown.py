"""Steps as people see them: a line that sums them up, and one line for each."""

import json
from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext, ngettext

from chat.catalog.catalog import model_name
from chat.models import Step
from chat.rendering.message_html import stored_block_count

from .mcp import servers
from .mcp.schemas import is_visible

UNFINISHED = (Step.State.WAITING, Step.State.RUNNING)
SHOWN_CHARS = 200  # of a model's argument
SINGLE = "\u200c\u200d\ufe0f"


def shown_groups(steps: Iterable[Step], text: str, **how: bool) -> list[dict[str, Any]]:
    """Return a context of `chat/_steps.html` for each place in a reply's `text` at which there were calls.

    `after`: the number of blocks before that place. `how`: see `shown_steps`.
    """
    every = list(steps)
    counts = {offset: stored_block_count(text[:offset]) for offset in {step.text_offset for step in every}}
    groups: dict[int, list[Step]] = {}
    for step in every:
        groups.setdefault(counts[step.text_offset], []).append(step)
    return [shown_steps(some, **how) | {"after": after} for after, some in sorted(groups.items())]


def breaks(groups: Iterable[dict[str, Any]]) -> tuple[int, ...]:
    """Return the numbers of blocks after which groups stand between two blocks (`PageRenderer.html`)."""
    return tuple(each["after"] for each in groups if each["after"])


def shown_steps(
    steps: Iterable[Step], *, live: bool, asks: bool = False, for_others: bool = False
) -> dict[str, Any]:
    """Return the context of `chat/_steps.html`. `live`: the run has not ended.

    `asks`: it is the person who can allow calls. `for_others`: without sources that only the owner may see.
    """
    every = list(steps)
    running = [step for step in every if live and step.state == Step.State.RUNNING]
    waiting = [step for step in every if live and step.state == Step.State.WAITING]
    line = f"{_label(running[-1])} …" if running else _sum(every)
    return {
        "line": gettext("Waiting for your answer") if waiting and asks else line,
        "live": bool(running),
        "waiting": bool(waiting),
        # The server calls with an id of the model; without one, for a model that cannot call.
        "is_for_model": any(not step.call for step in every),
        "items": [
            {
                "label": _label(step),
                "state": step.state if live or step.state not in UNFINISHED else Step.State.STOPPED,
                "asks": asks and step in waiting and not step.answer,
                # Unless the label has all of them.
                "arguments": ""
                if len(_address(step)) in range(1, SHOWN_CHARS)
                else _seen(step.written_arguments),
                "summary": step.summary,
                "seconds": step.seconds,
                "step": step,
                "sources": step.public_sources if for_others else step.sources,
            }
            for step in every
        ],
    }


def used_name(key: str) -> str:
    """Return the name of a model, or of a tool that asks for money, in a list of what was used."""
    names = {"web_search": gettext("Web search"), "read_page": gettext("Reading of pages")}
    return names.get(key) or model_name(key)


def _label(step: Step) -> str:
    """Return what the step does, with the words of the model's call."""
    names = {name: str(step.arguments.get(name, ""))[:SHOWN_CHARS] for name in ("query", "url", "fact")}
    match step.tool:
        case "web_search":
            return gettext("Search the web for “%(query)s”") % names
        case "search_my_chats":
            return gettext("Search your chats for “%(query)s”") % names
        case "read_page":
            return gettext("Read %(url)s") % names
        case "remember":
            return gettext("Remember “%(fact)s”") % names
    if remote := servers.words_of(step.tool):
        return gettext("Use %(tool)s of %(server)s") % remote
    return gettext("Use %(tool)s") % {"tool": step.tool}


def _seen(text: str) -> str:
    """Return a JSON text with escapes for what shows nothing: who allows a call has to see what is sent.

    A single joiner or variation selector behind a letter is part of Persian words and of emoji.
    """
    pairs = zip(f" {text}", text, strict=False)
    return "".join(
        c if is_visible(c) or (c in SINGLE and is_visible(before)) else json.dumps(c)[1:-1]
        for before, c in pairs
    )


def _address(step: Step) -> str:
    return str(step.arguments.get("url", "")) if step.tool == "read_page" else ""


def _others(number: int, *, alone: bool) -> str:
    if alone:
        return ngettext("%(n)s step", "%(n)s steps", number)
    return ngettext("%(n)s other step", "%(n)s other steps", number)


def _sum(steps: list[Step]) -> str:
    """Return what the steps did together, such as: 3 searches, 4 pages, 11 s."""
    searches = sum(step.tool in ("web_search", "search_my_chats") for step in steps)
    readings = [step for step in steps if step.tool == "read_page"]
    pages = sum(step.state == Step.State.DONE for step in readings)
    unread = len(readings) - pages
    others = len(steps) - searches - len(readings)
    parts = [
        searches and ngettext("%(n)s search", "%(n)s searches", searches) % {"n": searches},
        pages and ngettext("%(n)s page read", "%(n)s pages read", pages) % {"n": pages},
        unread and ngettext("%(n)s page not read", "%(n)s pages not read", unread) % {"n": unread},
        others and _others(others, alone=others == len(steps)) % {"n": others},
    ]
    times = [(step.created, step.finished) for step in steps if step.finished]
    if times:
        seconds = (max(end for _, end in times) - min(start for start, _ in times)).total_seconds()
        parts.append(gettext("%(n)s s") % {"n": round(seconds)} if seconds >= 1 else "")
    return " · ".join(str(part) for part in parts if part)
