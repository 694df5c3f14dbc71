"""A message of another chat while its blocks are read: what is kept of it, and what is left out by name."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from chat import limits
from chat.transfer import records
from chat.transfer.tree import TEXTLESS_QUESTION, UNKNOWN_TIME, Node, join_replies, messages_of
from chat.wire.text import split_thought

from . import foreign, pictures

MAX_TOOL_CHARS = 20_000  # of what a tool was sent, or returned
MAX_LEFT_OUT_CHARS = 100  # of the name of what is left out
MAX_PASTE_CHARS = 100_000  # a longer paste becomes a document
CUT = "…"
ROLE_OF_AUTHOR = {"user": records.USER, "human": records.USER, "assistant": records.ASSISTANT}


class Drafts:
    """The drafts of one conversation, and what is left out of it."""

    def __init__(self) -> None:
        self.seen: set[str] = set()  # names of all files, also of those that are left out
        self.left_out: defaultdict[str, list[str]] = defaultdict(list)

    def new(self, role: Any) -> "Draft":
        return Draft(self, ROLE_OF_AUTHOR.get(role, "") if isinstance(role, str) else "")

    def conversation(
        self,
        source: records.Source,
        nodes: list[Node],
        current: str = "",
        *,
        updated: Any = None,
        pinned: bool = False,
        archived: bool = False,
        cut: Collection[str] | None = None,
        **about: Any,
    ) -> records.ImportedConversation:
        """Return the conversation of these nodes. `current`: the one that is shown last.

        `cut`: None if each reply is one node, otherwise as in `join_replies`. Raises ConversationProblem.
        """
        messages, message_of_node = messages_of(nodes)
        if cut is not None:
            messages, message_of_node = join_replies(messages, message_of_node, cut)
        moment = foreign.moment(updated) or UNKNOWN_TIME
        return records.ImportedConversation(
            source=source,
            messages=messages,
            leaf=message_of_node.get(current, ""),
            updated=moment,
            pinned_at=moment if pinned else None,
            archived_at=moment if archived else None,
            left_out=self.left_out,
            **about,
        )


class Draft:
    """A message whose blocks are read in their order. `role` is "" for one that is not imported."""

    def __init__(self, drafts: Drafts, role: str) -> None:
        self._drafts, self.role = drafts, role
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._attachments: list[records.ImportedAttachment] = []
        self._citations: dict[records.ImportedCitation, None] = {}
        self._has_files_left_out = False

    def add(self, *texts: str) -> None:
        self._texts += [text for text in texts if text.strip()]

    def quote(self, passage: str) -> None:
        """Show a passage that the message is about, above all of its text."""
        if passage.strip():
            self._texts.insert(0, foreign.quoted(passage))

    def code(self, language: str, code: str) -> None:
        if code.strip():
            self._texts.append(foreign.code_block(language, code.rstrip("\n")))

    def think(self, text: str) -> None:
        if text.strip():
            self._thoughts.append(text)

    def call(self, name: str, sent: Any) -> None:
        """Keep the call of a tool with the reasoning, which is shown folded and is no text for models."""
        self.think(f"**{foreign.one_line(name) or 'tool'}**")
        if sent:
            self.result(name, sent, "json" if isinstance(sent, dict | list) else "")

    def result(self, name: str, returned: Any, language: str = "") -> None:
        """Keep what a tool returned, or was sent."""
        text, _ = pictures.take_out(foreign.written(returned))
        if len(text) > MAX_TOOL_CHARS:
            self.leave_out("tool", name)
            text = text[:MAX_TOOL_CHARS] + CUT
        if text.strip():
            self._thoughts.append(foreign.code_block(language, text))

    def cite(self, title: str, url: str = "", passage: str = "", page: int = 0) -> None:
        """Keep a source of the reply. One with neither title nor address is none."""
        url = foreign.address(url)
        title = foreign.one_line(title) or url
        if not title:
            return
        if len(passage) > limits.MAX_PASSAGE_CHARS:
            passage = passage[: limits.MAX_PASSAGE_CHARS - 1] + CUT
        citation = records.ImportedCitation(
            title[: limits.MAX_CITATION_TITLE_CHARS], url, page, passage, None
        )
        if len(self._citations) < limits.MAX_CITATIONS:
            self._citations.setdefault(citation)
        elif citation not in self._citations:
            self.leave_out("source", title)

    def cites(self, url: str) -> bool:
        return any(each.url == url for each in self._citations)

    def unknown(self, block: dict[str, Any], kind: Any) -> None:
        """Keep the text of a block of an unknown kind. One without any is named, if it has a kind."""
        if text := foreign.text_in(block):
            self.add(text)
        elif kind is not None:
            self.leave_out("other", kind)

    def leave_out(self, kind: str, name: Any) -> None:
        """Count what is not kept, for the end of the import."""
        self._drafts.left_out[kind].append(foreign.one_line(name)[:MAX_LEFT_OUT_CHARS] or kind)

    def leave_out_file(self, name: str) -> None:
        """Count a file that the export only names."""
        self._drafts.left_out["attachment"].append(name)
        self._drafts.seen.add(name)
        self._has_files_left_out = True

    def packed(self, name: str, file: str) -> None:
        """Attach a file that may be in the archive beside the conversations."""
        self._drafts.seen.add(name)
        self._attachments.append(records.ImportedAttachment(file, name[: limits.MAX_FILE_NAME_CHARS], ""))

    def document(self, name: str, text: str) -> None:
        """Attach the text of a file; where no attachment can be, a short one is a part of the message."""
        self._drafts.seen.add(name)
        name = foreign.one_line(name)[: limits.MAX_FILE_NAME_CHARS] or "text.txt"
        may_attach = self.role == records.USER and len(self._attachments) < limits.MAX_ATTACHMENTS
        if may_attach or (self.role == records.USER and len(text) > MAX_TOOL_CHARS):
            self._attachments.append(records.ImportedAttachment("", name, "", content=text.encode()))
        else:
            self.add(f"**{name}**")
            self.code("", text)

    def picture(self, name: str, source: str) -> None:
        """Attach a picture that is given by its data URL, or by Base64; count another one by its name."""
        url = pictures.data_url(source)
        content = url.content if url else pictures.decoded(source)
        name = name or (pictures.default_name(url) if url else "picture")
        if content and pictures.is_picture(content) and self.role == records.USER:
            self._attach(name, content)
        else:
            self.leave_out_file(name)
            if self.role != records.USER:
                self.add(f"[picture: {foreign.one_line(name)}]")

    def _attach(self, name: str, content: bytes) -> None:
        self._drafts.seen.add(name)
        alt = "" if "." in name else name[: limits.MAX_ALT_CHARS]
        self._attachments.append(
            records.ImportedAttachment("", name[: limits.MAX_FILE_NAME_CHARS], alt, content=content)
        )

    def _without_pictures(self, text: str) -> str:
        """Return the text with names for data URLs. The pictures of a question become attachments."""
        text, found = pictures.take_out(text)
        for each in found:
            if each.content and pictures.is_picture(each.content) and self.role == records.USER:
                self._attach(each.name, each.content)
            else:
                self.leave_out_file(each.name)
        return text

    def reasoning(self) -> str:
        return "\n\n".join(pictures.take_out(thought)[0] for thought in self._thoughts)

    @property
    def texts(self) -> int:
        return len(self._texts)

    @property
    def has_text(self) -> bool:
        return bool(self._texts)

    @property
    def is_reasoning_only(self) -> bool:
        return bool(self._thoughts) and not (self._texts or self._citations or self._has_files_left_out)

    def message(self, key: str, **more: Any) -> records.ImportedMessage | None:
        """Return the message; None if its role is not imported, or a reply has nothing that is kept or named.

        A question is kept in any case, because the replies around it would be one turn without it.
        """
        if self.role == records.USER:
            self._texts, self._thoughts = self._texts + self._thoughts, []
        text = "\n\n".join(self._texts)
        if self.role == records.ASSISTANT:
            thought, text = split_thought(text)
            self._thoughts = [*filter(None, [thought.strip()]), *self._thoughts]
        text = self._without_pictures(text)
        if not self.role and text:
            self.leave_out("other", text)
        has_content = (
            text.strip() or self._attachments or self._has_files_left_out or self.role == records.USER
        )
        if self.role == records.USER and not text.strip():
            text = "" if self._attachments else TEXTLESS_QUESTION
        reasoning = self.reasoning()
        if not self.role or not (has_content or reasoning or self._citations):
            return None
        return records.ImportedMessage(
            key,
            None,
            self.role,
            text,
            reasoning=reasoning,
            attachments=self._attachments,
            citations=list(self._citations),
            **more,
        )
