"""All who use the site while its workers are replaced."""

import asyncio
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from .uploads import Uploader
from .viewers import Viewer, client

TOKEN_SECONDS = 0.25
SHORT = "fake: words tokens=5 delay=0.1"
PEOPLE = ("alice", "bob", "erin", "root")


@dataclass(frozen=True, slots=True)
class Load:
    """`streams` at once, `sends` a second beside them, `uploads` at any time, and `workers` processes."""

    streams: int
    sends: float
    uploads: int
    workers: int


@dataclass(slots=True)
class Crowd:
    """The streams that all viewers have seen. `use` fills it."""

    counts: Counter[str] = field(default_factory=Counter)
    viewers: list[Viewer] = field(default_factory=list)

    async def use(self, url: str, load: Load, enough: asyncio.Event, tokens: int) -> None:
        """Send, watch and upload until `enough` is set, and every reply has ended."""
        async with AsyncExitStack() as stack:
            fresh = await stack.enter_async_context(client(url, kept=False))
            kept = await stack.enter_async_context(client(url, kept=True))
            people = [
                await stack.enter_async_context(client(url, kept=number % 2 == 0, person=person))
                for number, person in enumerate(PEOPLE)
            ]
            uploaders = []
            async with asyncio.TaskGroup() as group:

                def add(viewer: Viewer) -> Viewer:
                    self.viewers.append(viewer)
                    group.create_task(viewer.watch())
                    return viewer

                async def follow(viewer: Viewer) -> None:
                    await viewer.known.wait()
                    add(Viewer(fresh, self.counts, run=viewer.run))

                for number in range(load.uploads):
                    http = people[number % len(people)]

                    def start_viewer(model: str, file: str, http=http) -> Viewer:  # type: ignore[no-untyped-def]
                        return add(
                            Viewer(http, self.counts, SHORT, fields={"model": model, "attachments": [file]})
                        )

                    uploaders.append(Uploader(http, self.counts, start_viewer))
                    group.create_task(uploaders[-1].work(enough, number))
                for _ in range(load.streams // 2):
                    question = f"fake: words tokens={tokens} delay={TOKEN_SECONDS}"
                    group.create_task(follow(add(Viewer(fresh, self.counts, question))))
                    await asyncio.sleep(2.0 / load.streams)
                began, number = time.monotonic(), 0
                while not enough.is_set():
                    add(Viewer((fresh, kept)[number % 2], self.counts, SHORT))
                    number += 1
                    await asyncio.sleep(max(0.0, began + number / load.sends - time.monotonic()))
                self.counts["sends a second"] = round(number / (time.monotonic() - began))
            for uploader in uploaders:
                await uploader.look()
