"""The growing text of a run in memory: viewers are shown it, and the writer stores it."""

import asyncio
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from django.utils.translation import gettext, gettext_noop

from chat.engine.outcome import RunOutcome
from chat.wire import sse

from .feed import Feed, PlainFeed
from .html_feed import HtmlFeed
from .position import Position
from .run_info import RunInfo

F = TypeVar("F", bound=Feed)
WAITING = gettext_noop("Waiting for a free place: number %(place)s in the line.")
NOT_SAVED = gettext_noop("The reply cannot be saved at the moment. The server keeps trying.")
PAUSED = gettext_noop("The reply is paused until it can be saved. The server keeps trying.")


class RunState:
    """The text and the reasoning of one run.

    Both only grow, except by `replace`, which a `RemoteRun` needs after the owner process crashed. Viewers
    subscribe to one of two feeds, each created on first use: the plain text, or the HTML for pages.
    """

    def __init__(self, about: RunInfo) -> None:
        self.info = about
        self.text = ""
        self.reasoning = ""
        self.outcome: RunOutcome | None = None
        self._problem: dict[str, object] = {}
        self.problems = 0
        self.queue_position = 0  # in the wait queue, from 1; 0: not waiting
        self._unsaved = ""  # the warning shown to viewers that the text cannot be stored
        self.pings = 0
        self._feeds: list[Feed] = []

    @cached_property
    def plain_feed(self) -> PlainFeed:
        return self._add(PlainFeed(self))

    @cached_property
    def html_feed(self) -> HtmlFeed:
        return self._add(HtmlFeed(self))

    def _add(self, feed: F) -> F:
        self._feeds.append(feed)
        return feed

    @property
    def end(self) -> Position:
        return Position(len(self.text), len(self.reasoning))

    @property
    def viewers(self) -> int:
        return sum(feed.viewers for feed in self._feeds)

    def append(self, text: str, reasoning: str = "") -> None:
        self.text += text
        self.reasoning += reasoning
        for feed in self._feeds:
            feed.schedule()

    def replace(self, text: str, reasoning: str) -> None:
        """Take over the database's text, which may be shorter than what a dead owner process had sent."""
        if (text, reasoning) != (self.text, self.reasoning):
            self.text, self.reasoning = text, reasoning
            for feed in self._feeds:
                feed.reset()

    def finish(self, ending: RunOutcome) -> None:
        """Announce an outcome, which is stored already."""
        self.outcome = ending
        for feed in self._feeds:
            feed.end()

    def notify_problem(self, code: str, message: str, **more: object) -> None:
        """Send a `problem` event once to each current viewer; the run goes on."""
        self._problem = {"response": "", "code": code, "message": message, "retryable": True, **more}
        self.problems += 1
        self.wake_subscribers()

    @property
    def has_standing_problem(self) -> bool:
        """True while the latest problem still holds, so that new viewers are told as well."""
        return bool(self.queue_position or self._unsaved)

    def tell_unsaved(self, *, paused: bool) -> None:
        """Warn viewers that the text cannot be stored at the moment; `tell_saved` withdraws it."""
        sentence = PAUSED if paused else NOT_SAVED
        if sentence != self._unsaved:
            self._unsaved = sentence
            self.notify_problem("not_saved", sentence)

    def tell_saved(self) -> None:
        """Withdraw the warning of `tell_unsaved`, by an empty message."""
        if self._unsaved:
            self._unsaved = ""
            self.notify_problem("not_saved", "")

    def set_queue_position(self, place: int) -> None:
        """Tell viewers the run's place in the wait queue; 0 when it waits no more.

        New viewers are told as well. An empty message withdraws the notice.
        """
        if place != self.queue_position:
            self.queue_position = place
            self.notify_problem("waiting", WAITING if place else "", place=place)

    def set_fallback_model(self, model: str, sentence: str, /, **names: str) -> None:
        """Tell viewers that the fallback `model` answers. `sentence`, formatted with `names`, says why."""
        self.info = replace(self.info, model=model)
        self.notify_problem("fallback", sentence, answered_by=model, **names)

    def problem(self) -> bytes:
        """Return the latest problem as an SSE event, in the active language."""
        message = str(self._problem["message"])
        told = self._problem | {"message": gettext(message) % self._problem if message else ""}
        return sse.encode(sse.dumps(told), event="problem")

    def ping(self, silence: float) -> None:
        """Have viewers send an SSE comment if no feed has woken them for `silence` seconds."""
        last = max((feed.last_wake for feed in self._feeds), default=0.0)
        if asyncio.get_running_loop().time() - last >= silence:
            self.pings += 1
            self.wake_subscribers()

    def close(self) -> None:
        """Drop the feeds, which refer back: the cycle would keep the text until a garbage collection."""
        self._feeds.clear()
        for feed in ("plain_feed", "html_feed"):
            self.__dict__.pop(feed, None)

    def wake_subscribers(self) -> None:
        """Wake every viewer at once."""
        for feed in self._feeds:
            feed.wake()
