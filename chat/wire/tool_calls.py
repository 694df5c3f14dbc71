"""Tool calls, put together from the fragments of any server, and passed on in pieces as they come."""

import json
import re
import uuid
from typing import Any

from chat.wire.content import text_of
from chat.wire.text import sanitize
from chat.wire.tool_call import CUSTOM, CustomCall, ToolCall

MAX_CALLS = 128  # in one reply; OpenAI takes as many tools
MAX_ARGUMENTS_CHARS = 1_000_000  # code points of all calls together
_Object = dict[str, Any]
_FUNCTION_FIELDS = {"name", "arguments", "parameters"}
_USUAL_FIELDS = {"index", "id", "type", "function", *_FUNCTION_FIELDS}
_CUSTOM_FIELDS = {"name", "input"}
END_TOKENS = re.compile(r"\s*(<\|\w+\|>|</s>)+\s*")  # of a model's template, sent behind the arguments


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
        self._calls: list[ToolCall] = []
        self._by_index: dict[int, ToolCall] = {}
        self._by_id: dict[str, ToolCall] = {}
        self._ids: set[str] = set()
        # By index, an id and arguments that came before their call's name.
        self._early: dict[int | None, tuple[str, list[str]]] = {}
        self._last: ToolCall | None = None
        self._leaving = 0  # the number of the call whose pieces may leave; those of later ones wait
        self._waiting: list[_Object] = []
        self._room = MAX_ARGUMENTS_CHARS

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def is_open(self) -> bool:
        """True if the arguments of a call have begun and are not complete."""
        return any(call.is_open for call in self._calls)

    def as_list(self) -> list[_Object]:
        return [call.as_dict() for call in self._calls]

    def add(self, fragments: object, *, whole: bool = False) -> list[_Object]:
        """Add fragments; return what is new, as pieces in OpenAI's shape.

        `whole`: each with a name is a call, or the second copy of one that came in pieces.
        """
        found = [fragments] if isinstance(fragments, dict) else fragments
        if not isinstance(found, list):
            return []
        earlier = self._calls[:] if whole else None
        found = [each for each in found if isinstance(each, dict)]
        if earlier and len(found) == len(earlier):  # all of them again: their ids may be others
            known = {call.sent_id for call in earlier}
            found = [each if each.get("id") in known else {**each, "id": None} for each in found]
        pieces = (self._add(each, earlier) for each in found)
        return self._in_order([piece for piece in pieces if piece])

    def flush(self) -> list[_Object]:
        """Return the rest at the end of the reply: a call without arguments has the arguments {}."""
        self._waiting += [piece for call in self._calls if (piece := call.flush())]
        pieces, self._waiting = sorted(self._waiting, key=lambda piece: piece["index"]), []
        self._leaving = len(self._calls)
        return pieces

    def _in_order(self, pieces: list[_Object]) -> list[_Object]:
        """Return what may leave now of these pieces and those that wait."""
        if not pieces:
            return []
        first = self._leaving
        while self._leaving < len(self._calls) - 1 and self._calls[self._leaving].may_be_followed:
            if piece := self._calls[self._leaving].release():
                pieces.append(piece)
            self._leaving += 1
        if self._leaving > first:
            pieces, self._waiting = sorted(self._waiting + pieces, key=lambda piece: piece["index"]), []
        self._waiting += [piece for piece in pieces if piece["index"] > self._leaving]
        return [piece for piece in pieces if piece["index"] <= self._leaving]

    def _add(self, fragment: _Object, earlier: "list[ToolCall] | None") -> _Object | None:
        is_custom = isinstance(fragment.get(CUSTOM), dict)
        function = fragment.get(CUSTOM if is_custom else "function")
        if not isinstance(function, dict):
            function = fragment
        name, id_ = _word(function.get("name")), _word(fragment.get("id"))
        given = "input" if is_custom else "arguments"
        arguments = text_of(function.get(given, function.get("parameters")))
        if self._calls and END_TOKENS.fullmatch(arguments):
            return None
        index = None if earlier is not None else _number(fragment.get("index"))
        if earlier is not None and name:
            call = next((each for each in earlier if each.is_copied_by(id_, name, arguments)), None)
            arguments = call.rest_of(arguments) if call else arguments
        else:
            call = self._find(index, id_, name, arguments)
        if call is None and not name:
            self._hold(index, id_, arguments)
            return None
        parts: list[str] = []
        if call is None:
            early_id, parts = self._early.pop(index, ("", []))
            call = self._begin(index, id_ or early_id, name, is_custom=is_custom)
        self._last = call
        if call is None or call.repeats(name or call.name, arguments):
            return None
        call.add_name(name)
        if id_:
            self._by_id[id_] = call
        own = _own_fields(fragment, _USUAL_FIELDS | ({CUSTOM} if is_custom else set()))
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

    def _find(self, index: int | None, id_: str, name: str, arguments: str) -> "ToolCall | None":
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
        goes_on = index is not None and not call.has_begun  # the name, in pieces or as far as it is known
        return call if name == call.name or goes_on else None

    def _begin(self, index: int | None, id_: str, name: str, *, is_custom: bool) -> "ToolCall | None":
        """Begin a call with an id that is unique in the reply: results are matched by id. None if full."""
        if len(self._calls) >= MAX_CALLS:
            return None
        own_id = id_ if id_ and id_ not in self._ids else f"call_{uuid.uuid4().hex}"
        self._ids.add(own_id)
        call = (CustomCall if is_custom else ToolCall)(len(self._calls), own_id, id_, name)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        return call


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
