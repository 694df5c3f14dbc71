"""Tool calls, assembled from the fragments in a stream."""

import json
from typing import Any

from chat.wire.text import sanitize


class ToolCalls:
    """An accumulator of tool calls; `as_list` returns them in the shape of OpenAI's chat API.

    `add` accepts OpenAI's fragments (`index`, then `arguments` in pieces, also with null for keys that OpenAI
    omits), complete calls, and the older flat form `{"name", "arguments": {…}}`. Empty elements are skipped.
    """

    def __init__(self) -> None:
        self._calls: dict[int, dict[str, Any]] = {}

    def add(self, fragments: object) -> None:
        if not isinstance(fragments, list):
            return
        for fragment in fragments:
            if isinstance(fragment, dict):
                self._add(fragment)

    def as_list(self) -> list[dict[str, Any]]:
        return [_storable(self._calls[index]) for index in sorted(self._calls)]

    def _add(self, fragment: dict[str, Any]) -> None:
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = fragment
        name, arguments = function.get("name"), _text(function.get("arguments"))
        if not (name or arguments or fragment.get("id")):
            return
        call = self._call(fragment.get("index"), begins=bool(name or fragment.get("id")))
        if fragment.get("id"):
            call["id"] = str(fragment["id"])
        if name:
            call["function"]["name"] = str(name)
        call["function"]["arguments"] += arguments

    def _call(self, index: object, *, begins: bool) -> dict[str, Any]:
        """Return the call of a fragment; without an index, a new call if it `begins` one, else the last."""
        if not isinstance(index, int):
            index = max(self._calls, default=-1) + 1 if begins else max(self._calls, default=0)
        empty = {"id": f"call_{index}", "type": "function", "function": {"name": "", "arguments": ""}}
        return self._calls.setdefault(index, empty)


def _storable(call: dict[str, Any]) -> dict[str, Any]:
    function = {key: sanitize(value) for key, value in call["function"].items()}
    return {"id": sanitize(call["id"]), "type": "function", "function": function}


def _text(arguments: object) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
