"""Reading of uploaded files: by its content a file is a picture or a document; who waits for which child.

Each file is read in the quick lane first, with little CPU time. A file that needs more is begun again in the
slow lane, where slow files wait for each other. So nobody's ordinary file waits for the slow ones of others,
however many people bring such files; only the quick attempts of others, one of each person, are in front.
"""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import IO, ParamSpec, TypeVar

from chat.db.fair_executor import FairExecutor

from .confined.pictures import PICTURE_HEAD_BYTES, is_picture
from .confinement import QuickAttempt, TooSlow, attempt
from .decoding import EncodedPicture, decode
from .extraction import Extracted, extract

P = ParamSpec("P")
T = TypeVar("T")
# Child processes of this server process in each lane; each person has at most one in each.
QUICK_CHILDREN, SLOW_CHILDREN = 2, 1
# An ordinary file takes a tenth to one second. The wall time is for a machine with too much to do.
QUICK_ATTEMPT = QuickAttempt(cpu_seconds=3, wall_seconds=12)


class Readers:
    """Threads that run a function which reads one file, in the quick lane and then in the slow one."""

    def __init__(self) -> None:
        self._quick = FairExecutor("reading", QUICK_CHILDREN)
        self._slow = FairExecutor("slow-reading", SLOW_CHILDREN)

    def submit(
        self, person: Hashable, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> "Future[T]":
        """Call `function` when it is this person's turn. It is called again if it raises TooSlow."""
        outcome: Future[T] = Future()

        def quickly() -> None:
            try:
                with attempt(QUICK_ATTEMPT):
                    _settle(outcome, lambda: function(*args, **kwargs))
            except TooSlow:
                self._slow.submit(person, slowly)

        def slowly() -> None:
            _settle(outcome, lambda: function(*args, **kwargs))

        self._quick.submit(person, quickly)
        return outcome

    async def run(self, person: Hashable, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do the same for the event loop, and return the result."""
        return await asyncio.wrap_future(self.submit(person, function, *args, **kwargs))

    def waiting(self, person: Hashable) -> int:
        """Return how many files of this person are queued and not being read."""
        return self._quick.waiting(person) + self._slow.waiting(person)


def _settle(outcome: "Future[T]", call: Callable[[], T]) -> None:
    """Give `outcome` the result or the error of `call`, unless it was cancelled. Raises TooSlow."""
    if outcome.cancelled():
        return
    try:
        result = call()
    except TooSlow:
        raise
    except BaseException as error:
        if outcome.set_running_or_notify_cancel():
            outcome.set_exception(error)
    else:
        if outcome.set_running_or_notify_cancel():
            outcome.set_result(result)


READERS = Readers()


def read(file: IO[bytes], name: str) -> EncodedPicture | Extracted:
    """Return the picture in `file`, or the text of the document. Blocks as `decode` and `extract` do.

    `file` must be a real file. `name` is the client's: only among documents its extension matters. Raises
    what `decode` and `extract` raise.
    """
    file.seek(0)
    head = file.read(PICTURE_HEAD_BYTES)
    return decode(file) if is_picture(head) else extract(file, name)
