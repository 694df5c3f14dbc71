"""Tool calls, put together from the fragments of any server, and passed on in pieces as they come."""

import json
import re
import uuid
from typing import Any

from chat.wire.text import SurrogateJoiner, sanitize

MAX_CALLS = 128  # in one reply; OpenAI takes as many tools
MAX_ARGUMENTS_CHARS = 1_000_000  # code points of all calls together
_Object = dict[str, Any]
_STRUCTURE = re.compile(r'\\.|["{}\[\]\\]', re.S)
_FUNCTION_FIELDS = {"name", "arguments", "parameters"}
_USUAL_FIELDS = {"index", "id", "type", "function", *_FUNCTION_FIELDS}
_CUSTOM = "custom"  # calls of OpenAI's custom tools, whose `input` is any text, not JSON
_CUSTOM_FIELDS = {"name", "input"}


class ToolCalls:
    """An accumulator of tool calls; `as_list` returns them in the shape of OpenAI's chat API.

    `add` accepts OpenAI's fragments (`index`, then `arguments` in pieces, also with null for keys that OpenAI
    omits), complete calls, and the older flat form `{"name", "arguments": {…}}`. Empty elements are skipped.
    Calls of custom tools keep their own shape, `{"name", "input": "…"}` in `custom`.

    Index, id and name together tell the calls apart, because servers treat each of them in a way of their
    own: the index is 0 for all calls, missing, or text; the id is repeated in each fragment, new in each,
    missing, or the same for two calls. `is_cut`: arguments beyond the limit were left out.

    Pieces leave in the order of the calls, each after the arguments of the one before are complete: OpenAI's
    own client parses a call's arguments where the next call begins.
    """

    def __init__(self) -> None:
        self.is_cut = False
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._ids: set[str] = set()
        # By index, an id and arguments that came before their call's name.
        self._early: dict[int | None, tuple[str, list[str]]] = {}
        self._last: _Call | None = None
        self._turn = 0  # the number of the call whose pieces may leave; those of later ones wait
        self._waiting: list[_Object] = []
        self._room = MAX_ARGUMENTS_CHARS

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def is_open(self) -> bool:
        """True if the arguments of the last call have begun and are not complete."""
        return bool(self._calls) and self._calls[-1].is_open

    def as_list(self) -> list[_Object]:
        return [call.as_dict() for call in self._calls]

    def add(self, fragments: object, *, whole: bool = False) -> list[_Object]:
        """Add fragments; return what is new, as pieces in OpenAI's shape. `whole`: each is a call."""
        found = [fragments] if isinstance(fragments, dict) else fragments
        if not isinstance(found, list):
            return []
        pieces = (self._add(each, whole) for each in found if isinstance(each, dict))
        return self._in_order([piece for piece in pieces if piece])

    def flush(self) -> list[_Object]:
        """Return the rest at the end of the reply: a call without arguments has the arguments {}."""
        self._waiting += [piece for call in self._calls if (piece := call.flush())]
        pieces, self._waiting = sorted(self._waiting, key=lambda piece: piece["index"]), []
        self._turn = len(self._calls)
        return pieces

    def _in_order(self, pieces: list[_Object]) -> list[_Object]:
        """Return what may leave now of these pieces and those that wait."""
        if not pieces:
            return []
        first = self._turn
        while self._turn < len(self._calls) - 1 and self._calls[self._turn].may_be_followed:
            self._turn += 1
        if self._turn > first:
            pieces, self._waiting = sorted(self._waiting + pieces, key=lambda piece: piece["index"]), []
        self._waiting += [piece for piece in pieces if piece["index"] > self._turn]
        return [piece for piece in pieces if piece["index"] <= self._turn]

    def _add(self, fragment: _Object, whole: bool) -> _Object | None:
        is_custom = isinstance(fragment.get(_CUSTOM), dict)
        function = fragment.get(_CUSTOM if is_custom else "function")
        if not isinstance(function, dict):
            function = fragment
        name, id_ = _word(function.get("name")), _word(fragment.get("id"))
        given = "input" if is_custom else "arguments"
        arguments = _text(function.get(given, function.get("parameters")))
        index = None if whole else _number(fragment.get("index"))
        call = None if whole else self._find(index, id_, name, arguments)
        if call is None and not name:
            if not whole:
                self._hold(index, id_, arguments)
            return None
        parts: list[str] = []
        if call is None:
            early_id, parts = self._early.pop(index, ("", []))
            call = self._begin(index, id_ or early_id, name, is_custom=is_custom)
        self._last = call
        if call is None or call.repeats(name or call.name, arguments):
            return None
        if id_:
            self._by_id[id_] = call
        own = _own_fields(fragment, _USUAL_FIELDS | ({_CUSTOM} if is_custom else set()))
        usual = _CUSTOM_FIELDS if is_custom else _FUNCTION_FIELDS
        own_of_function = {} if function is fragment else _own_fields(function, usual)
        return call.add("".join([*parts, self._fitting(arguments)]), own, own_of_function)

    def _hold(self, index: int | None, id_: str, arguments: str) -> None:
        """Keep what comes before the name of its call."""
        if (id_ or arguments) and (index in self._early or len(self._early) < MAX_CALLS):
            early_id, parts = self._early.get(index, ("", []))
            parts.append(self._fitting(arguments))
            self._early[index] = (id_ or early_id, parts)

    def _fitting(self, arguments: str) -> str:
        """Return the arguments; "" beyond the limit."""
        self._room -= len(arguments)
        if self._room >= 0:
            return arguments
        self.is_cut = True
        return ""

    def _find(self, index: int | None, id_: str, name: str, arguments: str) -> "_Call | None":
        """Return the call that a fragment continues; None if there is none or it begins one."""
        last = self._last
        if index is not None:
            call = self._by_index.get(index)
        else:
            call = self._by_id.get(id_) if id_ else last
        if not name:
            # A server may count fragments in place of calls, or give each of them an id.
            return call or (last if arguments and last and last.is_open else None)
        if call is None:
            return None
        if call.is_complete:
            return call if id_ == call.sent_id != "" and call.repeats(name, arguments) else None
        if id_ and call.sent_id and id_ != call.sent_id:
            return call if call.is_open and name == call.name else None
        return call if name == call.name else None

    def _begin(self, index: int | None, id_: str, name: str, *, is_custom: bool) -> "_Call | None":
        """Begin a call with an id that is unique in the reply: results are matched by id. None if full."""
        if len(self._calls) >= MAX_CALLS:
            return None
        own_id = id_ if id_ and id_ not in self._ids else f"call_{uuid.uuid4().hex}"
        self._ids.add(own_id)
        call = (_CustomCall if is_custom else _Call)(len(self._calls), own_id, id_, name)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        return call


class _Call:
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
        # For `is_complete`, up to the part of this number; a backslash at its end belongs to the next one.
        self._scanned = self._depth = 0
        self._in_string = self._has_begun = False
        self._backslash = ""

    @property
    def is_complete(self) -> bool:
        """True if the arguments are a whole JSON value."""
        self._scan()
        return self._has_begun and self._depth <= 0 and not self._in_string

    @property
    def may_be_followed(self) -> bool:
        return self.is_complete

    @property
    def is_open(self) -> bool:
        self._scan()
        return self._depth > 0 or self._in_string

    def repeats(self, name: str, arguments: str) -> bool:
        """Return True for a second copy of the whole call, which some servers send at the end."""
        return self.is_complete and name == self.name and arguments == "".join(self._parts)

    def add(self, arguments: str, more: _Object, function_more: _Object) -> _Object | None:
        """Add a piece, and return what is new as a fragment in OpenAI's shape."""
        arguments = self._joiner.add(arguments) if arguments else ""
        if arguments:
            self._parts.append(arguments)
        self._more |= more
        self._function_more |= function_more
        return self._piece(arguments, more, function_more)

    def flush(self) -> _Object | None:
        rest = self._joiner.flush()
        if not rest and not any(part.strip() for part in self._parts):
            rest = self.no_text
        if rest:
            self._parts.append(rest)
        return self._piece(rest, {}, {})

    def as_dict(self) -> _Object:
        arguments = "".join(self._parts)
        function = {"name": self.name, self.text_field: arguments if arguments.strip() else self.no_text}
        function |= self._function_more
        return {"id": self._id, "type": self.kind, self.kind: function, **self._more}

    def _piece(self, arguments: str, more: _Object, function_more: _Object) -> _Object | None:
        if self._is_sent and not (arguments or more or function_more):
            return None
        function = {self.text_field: arguments, **function_more}
        if self._is_sent:
            return {"index": self._number, self.kind: function, **more}
        self._is_sent = True
        function = {"name": self.name, **function}
        return {"index": self._number, "id": self._id, "type": self.kind, self.kind: function, **more}

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


class _CustomCall(_Call):
    """A call of a custom tool: a text of any form, which only another call or the reply's end completes."""

    kind, text_field, no_text = _CUSTOM, "input", ""
    may_be_followed = True

    def _scan(self) -> None:
        pass


def _text(arguments: object) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)


def _number(index: object) -> int | None:
    if isinstance(index, str) and index.isdecimal() and len(index) < 10:
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _word(value: object) -> str:
    return sanitize(str(value)) if value else ""


def _own_fields(fragment: _Object, usual: set[str]) -> _Object:
    """Return the server's own fields, which it may want back: Gemini signs a call in `extra_content`."""
    if fragment.keys() <= usual:
        return {}
    own = {name: value for name, value in fragment.items() if name not in usual and value is not None}
    return sanitized_json(own)


def sanitized_json(value: Any) -> Any:
    """Return a JSON value whose texts can be sent: see SurrogateJoiner."""
    return json.loads(sanitize(json.dumps(value, ensure_ascii=False)))
