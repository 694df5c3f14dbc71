"""Problems of an imported file or of a conversation in it: the codes that are stored, and their sentences.

The sentences are marked, and translated where they are shown.
"""

from chat.wire.strict_json import gettext_noop as _


class FileProblem(Exception):
    """The whole file is refused. `code` is a key of FILE_PROBLEMS."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class ConversationProblem(Exception):
    """One conversation of the file is left out. `code` is a key of CONVERSATION_PROBLEMS."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class PromptProblem(Exception):
    """One prompt of the file is left out: it is not valid, or the person can have no more."""


FORMAT_NAMES = {
    "chat": "Chat",
    "chatgpt": "ChatGPT",
    "claude": "Claude",
    "open_webui": "Open WebUI",
    "librechat": "LibreChat",
}
# What a file can have that is not imported, in the order in which a page shows it.
LEFT_OUT: dict[str, str] = {
    "attachment": _("Attachments"),
    "unread": _("Attachments that would take too long: add the ones you need to a chat yourself"),
    "tool": _("Calls of tools and their results"),
    "source": _("Sources of replies"),
    "recording": _("Recordings"),
    "hidden": _("Hidden messages"),
    "long": _("Messages that are too long for this site, split into several"),
    "other": _("Other content"),
    "file": _("Other files of the export"),
}
FILE_PROBLEMS: dict[str, str] = {
    "compression": _("The zip file is compressed in a way that can’t be read here."),
    "damaged": _("The file is damaged or incomplete. Download or copy it again."),
    "encrypted": _("The zip file is encrypted. Unpack it and choose the JSON file in it."),
    "failed": _("The import failed because of an error on the server. An administrator finds it in the log."),
    "gone": _("The file is no longer on the server. Choose it again."),
    "known": _("Nothing in this file is new."),
    "names": _("The zip file has names that lead out of its folder. It isn’t an export of a chat."),
    "no_conversations": _("There are no chats in this file."),
    "not_json": _("This is neither a zip file of chats nor JSON."),
    "nothing": _("No chat of this file can be imported."),
    "object": _("One chat in this file is far too large, so the rest of it can’t be read."),
    "slow": _("Reading the file takes too long. Export fewer chats at once."),
    "stuck": _("Reading the file has failed twice. An administrator finds more in the log."),
    "too_big": _("Unpacked, the file is larger than this server accepts."),
    "too_many": _("The file has more chats than can be imported at once."),
    "unconfined": _("This server can’t read files safely, so it refuses them. Tell your administrator."),
    "too_many_files": _("The zip file has too many files in it."),
}
CONVERSATION_PROBLEMS: dict[str, str] = {
    "deep": _("nested too deeply"),
    "duplicate": _("two messages with the same ID"),
    "empty": _("without messages"),
    "failed": _("not readable because of an error on the server"),
    "id": _("with a message without an ID"),
    "invalid": _("not in a known format"),
    "large": _("too large"),
    "long": _("with a message that is too long"),
    "loop": _("with messages that follow each other in a circle"),
    "many": _("with too many messages"),
    "parent": _("with a message that answers a missing one"),
    "text": _("with characters that aren’t valid text"),
    "version": _("made by a newer version of this software"),
}
