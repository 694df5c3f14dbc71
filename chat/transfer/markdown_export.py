"""Export of a conversation's active branch as Markdown."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from chat.models import Conversation, Message
from chat.models.citation import CitedSource

from .document import is_picture, sources_of
from .markdown_labels import Labels
from .markdown_turns import closed
from .reading import read, shown_batches
from .records import Object

SPECIAL = re.compile(r"([\\`*_\[\]<>&#|~])")  # characters that Markdown gives a meaning
LISTED = re.compile(r"^(\d*)([-+=.)])(?=[-=]*(?:\s|$))")
NameOf = Callable[[str], str]  # returns the display name of a model, given its id


def markdown_pieces(
    conversation: Conversation, zone: tzinfo, name_of: NameOf, root: str | None = None
) -> Iterator[str]:
    """Yield the file in pieces, reading only what the next piece needs. Times are in `zone`.

    `root`: the relative path to the archive's root, for links to pictures and documents; without it, they are
    only named.
    """
    labels = Labels()
    yield f"# {_escaped(conversation.title)}\n"
    if version := conversation.assistant_version:
        yield f"\n{_('Assistant:')} {_escaped(version.name)}\n"
    if conversation.system:
        yield f"\n## {_('Instructions')}\n\n{closed(labels.apart(conversation.system))}\n"
    for batch in shown_batches(conversation):
        for message in read(batch):
            yield _message(message, zone, name_of, root, labels)


def _message(message: Object, zone: tzinfo, name_of: NameOf, root: str | None, labels: Labels) -> str:
    heading = f"\n## {author(message, name_of)} · {written_time(message['created'], zone)}\n"
    thoughts = ""
    if message["reasoning"]:
        reasoning = closed(labels.apart(message["reasoning"]))
        thoughts = f"\n<details><summary>{_('Thinking')}</summary>\n\n{reasoning}\n\n</details>\n"
    attachments = "".join(f"\n{_attachment(each, root)}\n" for each in message.get("attachments", ()))
    text = f"\n{closed(labels.apart(message['text']))}\n" if message["text"] or not attachments else ""
    return f"{heading}{thoughts}{attachments}{text}{_sources(message)}"


def _sources(message: Object) -> str:
    """Return the list of sources, each with its passages as quotations; "" without any."""
    sources = sources_of(message)
    if not sources:
        return ""
    listed = "".join(f"\n{n}. {_source(each)}\n" for n, each in enumerate(sources, 1))
    return f"\n### {_('Sources')}\n{listed}"


def _source(source: CitedSource) -> str:
    url = source.url.replace("<", "%3C").replace(">", "%3E")
    name = f"[{_escaped(source.title)}](<{url}>)" if url else _escaped(source.title)
    quotes = [_quote(each.page, each.text) for each in source.passages]
    return "\n".join([name, *quotes])


def _quote(page: int, text: str) -> str:
    """Return a passage as an indented quotation. Its Markdown is escaped: it is text of others."""
    above = [f"   {_('Page %(n)s') % {'n': page}}"] if page else []
    lines = [f"   > {_line(line)}".rstrip() for line in text.splitlines()]
    return "\n".join(["", *above, *([""] if above else []), *lines])


def _line(line: str) -> str:
    """Return a line as text: with spaces that indent no code, and no mark of a list."""
    words = line.lstrip()
    return "\u00a0" * (len(line) - len(words)) + LISTED.sub(r"\1\\\2", _escaped(words))


def _escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)


def _attachment(attachment: Object, root: str | None) -> str:
    label = " ".join((attachment["alt"] or attachment["name"]).split())
    escaped = _escaped(label)
    if root is None:
        words = _("Picture: %(name)s") if is_picture(attachment) else _("Document: %(name)s")
        return f"*{words % {'name': escaped}}*"
    return f"{'!' if is_picture(attachment) else ''}[{escaped}]({root}{attachment['file']})"


def author(message: Object, name_of: NameOf) -> str:
    """Return the author to show above a message: "You", or the model's name."""
    if message["role"] == Message.Role.USER:
        return _("You")
    return name_of(message["model"]) or _("Assistant")


def written_time(moment: str, zone: tzinfo) -> str:
    """Return a time of the document in the active language, with its time zone."""
    local = datetime.fromisoformat(moment).astimezone(zone)
    return f"{date_format(local, 'DATETIME_FORMAT')} {local.tzname()}"
