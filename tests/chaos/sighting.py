"""The view of one reply by one viewer, over all its connections."""

import json
import time
from dataclasses import dataclass, field
from typing import Any

from chat.wire.position import Position
from chat.wire.sse import Event
from tests.rendering.page import patched


@dataclass(slots=True)
class Sighting:
    """`texts` and `reasonings`: what stood there at each `reset`, and in the end. `notes`: what happened."""

    page: bool
    joined: bool = False
    text: str = ""
    reasoning: str = ""
    texts: list[str] = field(default_factory=list)
    reasonings: list[str] = field(default_factory=list)
    position: str = ""
    steps: dict[int, str] = field(default_factory=dict)  # the state of each, as it was said last
    statuses: list[str] = field(default_factory=list)
    finished: bool = False
    wrong_positions: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    notes: list[tuple[float, str]] = field(default_factory=list)

    @property
    def asked(self) -> int | None:
        """The number of a call that waits for the person's answer."""
        return next((number for number, state in self.steps.items() if state == "waiting"), None)

    def note(self, what: str) -> None:
        """Evidence: when, and with how much text on the screen."""
        self.notes.append((time.time(), f"{what} at {len(self.text)}.{len(self.reasoning)}"))

    @property
    def all_texts(self) -> list[str]:
        return [*self.texts, self.text]

    @property
    def all_reasonings(self) -> list[str]:
        return [*self.reasonings, self.reasoning]

    def take(self, event: Event, *, own_id: bool) -> None:
        """`own_id`: the event itself has an id, which is not one that stays from an event before it."""
        if event.data == "[DONE]":
            self.finished = True
            return
        payload: dict[str, Any] = json.loads(event.data) if event.data else {}
        if event.event == "reset":
            self._reset()
        elif event.event in ("problem", "reconnect"):
            self.problems.append(payload.get("code", event.event))
            self.note(self.problems[-1])
        elif event.event == "step":
            self.steps[payload["step"]["n"]] = payload["step"]["state"]
        self.text += payload.get("response", "")
        self.reasoning += payload.get("reasoning", "")
        self.blocks = patched(self.blocks, payload.get("html", []))
        if event.event == "done":
            self.statuses.append(payload["status"])
            self.note(f"done: {payload['status']}")
        if own_id:
            self._move(event.id)

    def _reset(self) -> None:
        self.note("reset")
        self.texts.append(self.text)
        self.reasonings.append(self.reasoning)
        self.text = self.reasoning = self.position = ""
        self.blocks = []

    def _move(self, position: str) -> None:
        """A position says how much text there is: it never goes back, and agrees with what was sent."""
        now = Position.parse(position)
        before = Position.parse(self.position or "0")
        if (now.text, now.reasoning) != (len(self.text), len(self.reasoning)) or now < before._replace(
            done=False
        ):
            self.wrong_positions.append(
                f"{position} after {self.position or 0}, with {len(self.text)}.{len(self.reasoning)} seen"
            )
        self.position = position
