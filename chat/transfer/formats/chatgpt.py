"""ChatGPT's export: `conversations.json`, a list of trees, each a `mapping` from ids to nodes.

OpenAI does not document it. This reader was checked against excerpts of public readers of the export; no real
export was at hand:
https://github.com/pionxzh/chatgpt-exporter, https://github.com/mitkury/chatgpt-export-parser

CONTENT has what each type of content is kept as, the lists of tools what their calls are kept as, and
`marks.py` what the marks of citations are. One turn is a chain of nodes, such as thoughts, a call, its result
and text; here it is one reply.
"""

import shlex
from collections.abc import Callable
from typing import Any

from chat.transfer.records import ASSISTANT, CHATGPT_FILE, ImportedConversation
from chat.transfer.tree import Node

from . import foreign, marks, markup
from .documents import CALLS, Canvas
from .drafts import Draft, Drafts

Raw = dict[str, Any]
SHOWN_RECIPIENTS = ("", "all")  # recipients of messages that are shown; other recipients are tools
CONTEXT = ("user_profile", "user_instructions")  # fields of the custom instructions
OLDER_CONTEXT = ("about_user_message", "about_model_message")
# Tools, by the first part of their names. What the search tools are sent and return is not shown by ChatGPT,
# and some tools only confirm. The calls and results of any other tool are kept with the reasoning.
CODE_TOOLS = {"python": "python", "python_user_visible": "python", "container": "bash"}
SEARCH_TOOLS = ("web", "browser", "file_search", "myfiles_browser", "search", "personal_context")
CONFIRMING_TOOLS = ("canmore", "bio", "dalle", "image_gen", "t2uay3k", "reply_widget")
LETTER = "writing"  # name of the directive of a letter; any other one is text
CUT_OFF = ("max_tokens", "interrupted")  # types of ends after which “Continue generating” went on
RECORDINGS = {
    "audio_asset_pointer": "audio",
    "real_time_user_audio_video_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
}


def matches(value: Raw) -> bool:
    return isinstance(value.get("mapping"), dict)


def conversation(value: Raw) -> ImportedConversation:
    drafts, documents = Drafts(), Canvas(value["mapping"])
    system: list[str] = []
    nodes = []
    cut: set[str] = set()
    raw_nodes = ((foreign.text(key), foreign.fields(raw)) for key, raw in value["mapping"].items())
    for key, parent, node in foreign.in_order(
        (key, foreign.text(node.get("parent")), node) for key, node in raw_nodes
    ):
        raw = foreign.fields(node.get("message"))
        system += _instructions(raw)
        documents.begin(key, parent)
        finish = foreign.fields(foreign.fields(raw.get("metadata")).get("finish_details"))
        if foreign.text(finish.get("type")) in CUT_OFF:
            cut.add(key)
        nodes.append(_node(key, parent, raw, drafts, documents))
    return drafts.conversation(
        "chatgpt",
        nodes,
        foreign.text(value.get("current_node")),
        cut=cut,
        key=foreign.first(value, "conversation_id", "id"),
        title=foreign.text(value.get("title")),
        model=foreign.model(value.get("default_model_slug")),
        system="\n\n".join(dict.fromkeys(system)),
        created=foreign.moment(value.get("create_time")),
        updated=value.get("update_time"),
        pinned=value.get("is_starred") is True or value.get("pinned_time") is not None,
        archived=value.get("is_archived") is True,
    )


def _node(key: str, parent: str, raw: Raw, drafts: Drafts, documents: Canvas) -> Node:
    """Return a node, without a message for what ChatGPT does not show either."""
    content, about = foreign.fields(raw.get("content")), foreign.fields(raw.get("metadata"))
    author = foreign.fields(raw.get("author"))
    role = author.get("role")
    draft = drafts.new(ASSISTANT if role in ("tool", None) else role)
    if not draft.role or content.get("content_type") == "user_editable_context":
        return Node(key, parent)
    if about.get("is_visually_hidden_from_conversation") is True:
        if text := foreign.text_in(content):
            draft.leave_out("hidden", text)
        return Node(key, parent)
    recipient = foreign.text(raw.get("recipient"))
    if role == "tool":
        _result(draft, foreign.text(author.get("name")) or documents.called(parent), content, about)
    elif recipient in SHOWN_RECIPIENTS:
        CONTENT.get(foreign.text(content.get("content_type")), _unknown)(draft, content, about)
    else:
        _call(draft, recipient, content, about, documents)
    draft.quote(foreign.text_in(about.get("targeted_reply")))
    _files(draft, content, about)
    if draft.is_reasoning_only:
        return Node(key, parent, reasoning=draft.reasoning())
    is_reply = draft.role == ASSISTANT
    model = foreign.model(about.get("model_slug")) if is_reply else ""
    return Node(key, parent, draft.message(key, model=model, created=foreign.moment(raw.get("create_time"))))


def _call(draft: Draft, recipient: str, content: Raw, about: Raw, documents: Canvas) -> None:
    """Keep the call of a tool: what it runs, writes into the canvas or remembers."""
    tool = recipient.partition(".")[0]
    sent = foreign.text(content.get("text")) or foreign.text_in(content.get("parts"))
    if recipient in CALLS:
        draft.add(documents.shown(recipient, sent, about))
    elif tool in CODE_TOOLS:
        draft.code(CODE_TOOLS[tool], _command(sent))
    elif tool in SEARCH_TOOLS:
        draft.leave_out("tool", f"{recipient}: {sent}")
    else:
        draft.call(recipient, foreign.parsed(sent))


def _command(sent: str) -> str:
    """Return the command line that a call of a container holds; other code as it is."""
    found = foreign.fields(foreign.parsed(sent)).get("cmd") if sent.startswith("{") else None
    return shlex.join(map(foreign.text, found)) if isinstance(found, list) else foreign.text(found) or sent


def _result(draft: Draft, name: str, content: Raw, about: Raw) -> None:
    """Keep what a tool returned. What the search tools found is kept as sources, where it is cited."""
    tool = name.partition(".")[0]
    kind = foreign.text(content.get("content_type"))
    if kind in SHOWN_RESULTS:
        CONTENT[kind](draft, content, about)
    elif tool in CODE_TOOLS:
        draft.code("", foreign.text_in(content))
    elif tool in SEARCH_TOOLS:
        if text := foreign.text_in(content):
            draft.leave_out("tool", f"{name}: {text}")
    elif text := foreign.text_in(content):
        if tool not in CONFIRMING_TOOLS:
            draft.result(name, text)
    elif kind not in PLAIN:
        draft.leave_out("other", kind)
    report = foreign.parsed(foreign.fields(about.get("chatgpt_sdk")).get("widget_state"))
    if text := foreign.text_in(foreign.fields(report).get("report_message")):  # of a deep research
        draft.add(marks.replaced(text, about, draft))


def _text(draft: Draft, content: Raw, about: Raw) -> None:
    parts = foreign.listed(content.get("parts"))
    for part in parts:
        # A spoken part is an object with its transcription; those of files are in `_files`.
        text = foreign.text(part) or foreign.text(foreign.fields(part).get("text"))
        if draft.role == ASSISTANT:
            text = markup.replaced_directives(marks.replaced(text, about, draft), _letter, (LETTER,))
        if not text and isinstance(part, dict) and not _is_file(part):
            text = foreign.text_in(part)
        draft.add(text)
    if not parts:
        draft.add(foreign.text(content.get("text")))


def _letter(directive: markup.Directive) -> str:
    title = directive.attributes.get("subject") or directive.attributes.get("title")
    return "\n".join([*([f"**{title}**", ""] if title else []), *directive.lines])


def _code(draft: Draft, content: Raw, about: Raw) -> None:
    language = foreign.text(content.get("language"))
    draft.code("" if language == "unknown" else language, foreign.text(content.get("text")))


def _output(draft: Draft, content: Raw, about: Raw) -> None:
    draft.code("", foreign.first(content, "text", "output_str"))
    result = foreign.fields(about.get("aggregate_result"))
    for each in foreign.objects(result.get("messages")):
        if each.get("message_type") == "image":
            draft.picture("", foreign.text(each.get("image_url")))


def _thoughts(draft: Draft, content: Raw, about: Raw) -> None:
    for each in foreign.objects(content.get("thoughts")):
        said = foreign.text(each.get("content")) or foreign.text_in(each.get("chunks"))
        heading = foreign.one_line(each.get("summary"))
        draft.think(f"**{heading}**\n\n{said}" if said and heading else said or heading)


def _passage(draft: Draft, content: Raw, about: Raw) -> None:
    title, url = foreign.first(content, "title", "domain"), foreign.text(content.get("url"))
    draft.cite(title, url, foreign.text(content.get("text")))


def _browsed(draft: Draft, content: Raw, about: Raw) -> None:
    """Keep the pages that were opened as sources. The text of a result was never shown."""
    for each in foreign.objects(foreign.fields(about.get("_cite_metadata")).get("metadata_list")):
        marks.cite(each, draft)
    if text := foreign.text(content.get("result")):
        draft.leave_out("tool", text)


def _unknown(draft: Draft, content: Raw, about: Raw) -> None:
    draft.unknown(content, content.get("content_type") or None)


CONTENT: dict[str, Callable[[Draft, Raw, Raw], None]] = {
    "text": _text,
    "multimodal_text": _text,
    "code": _code,
    "execution_output": _output,
    "citable_code_output": _output,
    "thoughts": _thoughts,
    "reasoning_recap": lambda draft, content, about: draft.think(foreign.text(content.get("content"))),
    "tether_quote": _passage,
    "sonic_webpage": _passage,
    "tether_browsing_display": _browsed,
    "system_error": lambda draft, content, about: draft.add(
        ": ".join(filter(None, (foreign.text(content.get(name)) for name in ("name", "text"))))
    ),
    # What ChatGPT remembers of other conversations was not said in this one.
    "model_editable_context": lambda draft, content, about: draft.leave_out(
        "hidden", foreign.text_in(content.get("model_set_context"))
    ),
}
PLAIN = ("", "text", "multimodal_text", "code")
SHOWN_RESULTS = tuple(kind for kind in CONTENT if kind not in PLAIN)


def _files(draft: Draft, content: Raw, about: Raw) -> None:
    """Keep the files: uploaded ones are in the metadata and the parts, generated ones only in the parts.

    The archive may have them beside the conversations. Some exporters write pictures into the parts.
    """
    uploaded = foreign.objects(about.get("attachments"))
    pictures = []
    for part in filter(_is_file, foreign.objects(content.get("parts"))):
        kind, source = foreign.text(part.get("content_type")), foreign.text(part.get("asset_pointer"))
        if kind in RECORDINGS:
            draft.leave_out("recording", RECORDINGS[kind])
        elif draft.role == ASSISTANT:
            made = foreign.fields(foreign.fields(part.get("metadata")).get("dalle"))
            draft.picture(foreign.text(part.get("name")) or foreign.text(made.get("prompt"))[:80], source)
        elif source.startswith("data:"):
            draft.picture(foreign.text(uploaded.pop(0).get("name")) if uploaded else "", source)
        else:
            pictures.append({"name": kind, **part, "id": source.rpartition("/")[2]})
    files = [*uploaded, *pictures[len(uploaded) :]]
    for name, each in zip(foreign.names(files, "name"), files, strict=True):
        key = foreign.text(each.get("id"))
        if draft.role != ASSISTANT and CHATGPT_FILE.fullmatch(key):
            draft.packed(name, key)
        else:
            draft.leave_out_file(name)


def _is_file(part: Raw) -> bool:
    return "asset_pointer" in part or foreign.text(part.get("content_type")) in RECORDINGS


def _instructions(raw: Raw) -> list[str]:
    """Return the parts of the system prompt or of the custom instructions; [] for any other message."""
    content = foreign.fields(raw.get("content"))
    if content.get("content_type") == "user_editable_context":
        found = [foreign.text(content.get(name)) for name in CONTEXT]
    elif foreign.fields(raw.get("author")).get("role") in ("system", "developer"):
        older = foreign.fields(foreign.fields(raw.get("metadata")).get("user_context_message_data"))
        found = [foreign.text(part) for part in foreign.listed(content.get("parts"))]
        found += [foreign.text(older.get(name)) for name in OLDER_CONTEXT]
    else:
        found = []
    return [each for each in found if each.strip()]
