"""A run's growing text in memory: what its viewers are shown, and what is stored of it."""

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
    """One run's two texts. They only grow, but for `replace`: a mirror needs it after a crash elsewhere.

    Its viewers hang on two feeds, each made for the first who wants it: the plain text, and the page's HTML.
    """

    def __init__(self, about: RunInfo) -> None:
        self.info = about
        self.text = ""
        self.reasoning = ""
        self.outcome: RunOutcome | None = None
        self._problem: dict[str, object] = {}
        self.problems = 0
        self.queue_position = 0  # in the line of those who wait to be asked
        self._unsaved = ""  # what viewers were told of text that cannot be stored
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
        """Take the database's text, which may be shorter than what a dead owner had sent."""
        if (text, reasoning) != (self.text, self.reasoning):
            self.text, self.reasoning = text, reasoning
            for feed in self._feeds:
                feed.reset()

    def finish(self, ending: RunOutcome) -> None:
        """Announce an ending that is stored already."""
        self.outcome = ending
        for feed in self._feeds:
            feed.end()

    def notify_problem(self, code: str, message: str, **more: object) -> None:
        """Say a problem once to those who watch now; the run goes on."""
        self._problem = {"response": "", "code": code, "message": message, "retryable": True, **more}
        self.problems += 1
        self.wake_subscribers()

    @property
    def has_standing_problem(self) -> bool:
        """The latest problem still holds: new viewers are told as well."""
        return bool(self.queue_position or self._unsaved)

    def tell_unsaved(self, *, paused: bool) -> None:
        """Say that the text cannot be stored at the moment; `tell_saved` takes it back."""
        sentence = PAUSED if paused else NOT_SAVED
        if sentence != self._unsaved:
            self._unsaved = sentence
            self.notify_problem("not_saved", sentence)

    def tell_saved(self) -> None:
        """The text is stored again. An empty message takes back what was said."""
        if self._unsaved:
            self._unsaved = ""
            self.notify_problem("not_saved", "")

    def set_queue_position(self, place: int) -> None:
        """The run waits to be asked, at this place of the line; 0 when it waits no more.

        Whoever comes to watch is told as well; an empty message takes back what was said.
        """
        if place != self.queue_position:
            self.queue_position = place
            self.notify_problem("waiting", WAITING if place else "", place=place)

    def set_fallback_model(self, model: str, sentence: str, /, **names: str) -> None:
        """Another model answers than the one that was asked; `sentence` says why, with places for `names`."""
        self.info = replace(self.info, model=model)
        self.notify_problem("fallback", sentence, answered_by=model, **names)

    def problem(self) -> bytes:
        """The latest one, in the language of who asks."""
        message = str(self._problem["message"])
        told = self._problem | {"message": gettext(message) % self._problem if message else ""}
        return sse.encode(sse.dumps(told), event="problem")

    def ping(self, silence: float) -> None:
        """Let the viewers send a comment where nothing was said for `silence` seconds."""
        last = max((feed.last_wake for feed in self._feeds), default=0.0)
        if asyncio.get_running_loop().time() - last >= silence:
            self.pings += 1
            self.wake_subscribers()

    def close(self) -> None:
        """Let go of the feeds, which refer back: the cycle would keep the text until a garbage collection."""
        self._feeds.clear()
        for feed in ("plain", "page"):
            self.__dict__.pop(feed, None)

    def wake_subscribers(self) -> None:
        """Have every viewer look, at once."""
        for feed in self._feeds:
            feed.wake()
