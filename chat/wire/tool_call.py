"""One tool call, put together from its pieces."""

import re
from typing import Any

from chat.wire.content import json_or_text
from chat.wire.text import SurrogateJoiner

CUSTOM = "custom"  # calls of OpenAI's custom tools, whose `input` is any text, not JSON
NO_ARGUMENTS = ("{}", "null")
_Object = dict[str, Any]
_STRUCTURE = re.compile(r'\\.|["{}\[\]\\]', re.S)


class ToolCall:
    """One call. `sent_id` is the server's id, `id` the one that is unique in the reply."""

    kind, text_field, no_text = "function", "arguments", "{}"

    def __init__(self, number: int, id_: str, sent_id: str, name: str) -> None:
        self.name, self.sent_id = name, sent_id
        self._id, self._number = id_, number
        self._parts: list[str] = []
        self._more: _Object = {}
        self._function_more: _Object = {}
        self._joiner = SurrogateJoiner()
        self._is_sent = False
        self._is_empty = False  # {} stands for no arguments, or for those that follow
        # For `is_complete`, up to the part of this number; a backslash at its end belongs to the next one.
        self._scanned = self._depth = 0
        self._in_string = self._has_begun = False
        self._backslash = ""

    @property
    def is_complete(self) -> bool:
        """True if the arguments are a whole JSON value."""
        self._scan()
        return self._is_empty or (self._has_begun and self._depth <= 0 and not self._in_string)

    @property
    def has_begun(self) -> bool:
        """True once there are arguments; until then the name may go on."""
        return self._is_empty or bool(self._parts)

    @property
    def may_be_followed(self) -> bool:
        return self.is_complete

    @property
    def is_open(self) -> bool:
        self._scan()
        return self._depth > 0 or self._in_string

    def repeats(self, name: str, arguments: str) -> bool:
        """Return True for a second copy of the whole call, which some servers send at the end."""
        if not self.is_complete or name != self.name:
            return False
        own = "{}" if self._is_empty else "".join(self._parts)
        return arguments == own or (bool(arguments) and json_or_text(arguments) == json_or_text(own))

    def is_copied_by(self, id_: str, name: str, arguments: str) -> bool:
        """Return True if a whole call is this one again, in whatever spelling of its arguments."""
        if name != self.name or (id_ and self.sent_id and id_ != self.sent_id):
            return False
        own = "".join(self._parts)
        is_longer = bool(id_ and self.sent_id and arguments.startswith(own))
        return is_longer or json_or_text(arguments) == json_or_text(own)

    def rest_of(self, arguments: str) -> str:
        """Return what a copy of this call has beyond the arguments so far."""
        own = "".join(self._parts)
        return "" if self.is_complete or not arguments.startswith(own) else arguments[len(own) :]

    def add_name(self, name: str) -> None:
        """Put the name together from pieces, or from ever longer beginnings of it, before it is sent."""
        if name and name != self.name and not self._is_sent:
            self.name = name if name.startswith(self.name) else self.name + name

    def add(self, arguments: str, more: _Object, function_more: _Object) -> _Object | None:
        """Add a piece, and return what is new as a fragment in OpenAI's shape.

        Nothing is sent before the arguments, so that the first fragment has the whole name. An empty object
        is none: some servers send one before the arguments, or behind them.
        """
        if (
            self.kind == "function"
            and arguments.strip() in NO_ARGUMENTS
            and (self.is_complete or not self._parts)
        ):
            self._is_empty = self._is_empty or not self._parts
            arguments = ""
        arguments = self._joiner.add(arguments) if arguments else ""
        if arguments:
            self._parts.append(arguments)
            self._is_empty = False
        self._more |= more
        self._function_more |= function_more
        return self._piece(arguments, more, function_more) if arguments or self._is_sent else None

    def flush(self) -> _Object | None:
        self._is_empty = False
        rest = self._joiner.flush()
        if not rest and not any(part.strip() for part in self._parts):
            rest = self.no_text
        if rest:
            self._parts.append(rest)
        return self._piece(rest, {}, {})

    def release(self) -> _Object | None:
        """Return what was held back, before the next call begins."""
        return None if self._is_sent else self.flush()

    def as_dict(self) -> _Object:
        arguments = "".join(self._parts)
        function = {"name": self.name, self.text_field: arguments if arguments.strip() else self.no_text}
        function |= self._function_more
        return {"id": self._id, "type": self.kind, self.kind: function, **self._more}

    def _piece(self, arguments: str, more: _Object, function_more: _Object) -> _Object | None:
        if self._is_sent and not (arguments or more or function_more):
            return None
        if self._is_sent:
            return {"index": self._number, self.kind: {self.text_field: arguments, **function_more}, **more}
        self._is_sent = True
        function = {"name": self.name, self.text_field: arguments, **self._function_more}
        return {"index": self._number, "id": self._id, "type": self.kind, self.kind: function, **self._more}

    def _scan(self) -> None:
        """Read on in the arguments, each part once, so that long arguments take linear time."""
        text = self._backslash + "".join(self._parts[self._scanned :])
        self._scanned, self._backslash = len(self._parts), ""
        self._has_begun = self._has_begun or bool(text.strip())
        for found in _STRUCTURE.finditer(text):
            sign = found[0]
            if sign == '"':
                self._in_string = not self._in_string
            elif sign == "\\" and found.end() == len(text):
                self._backslash = sign
            elif not self._in_string:
                self._depth += (sign in "{[") - (sign in "}]")


class CustomCall(ToolCall):
    """A call of a custom tool: a text of any form, which only another call or the reply's end completes."""

    kind, text_field, no_text = CUSTOM, "input", ""
    may_be_followed = True

    def _scan(self) -> None:
        pass
