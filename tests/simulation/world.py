"""Virtual time, and links to a database that lose, delay and repeat what is sent over them."""

import heapq
import random
from collections.abc import Callable
from itertools import chain
from typing import Any

LATENCY_SECONDS = (0.001, 0.05)
Action = Callable[..., None]


class World:
    """Runs events in the order of their time. Everything random comes from one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.now = 0.0
        self._events: list[tuple[float, int, Action, tuple[Any, ...]]] = []
        self._number = 0

    def at(self, time: float, action: Action, *arguments: Any) -> None:
        self._number += 1
        heapq.heappush(self._events, (time, self._number, action, arguments))

    def after(self, seconds: float, action: Action, *arguments: Any) -> None:
        self.at(self.now + seconds, action, *arguments)

    def run(self, until: float) -> None:
        events = self._events
        while events and events[0][0] <= until:
            self.now, _, action, arguments = heapq.heappop(events)
            action(*arguments)
        self.now = until


class Link:
    """One process's way to the database. An operation is a function that changes the database at one moment.

    While the link or the database is down, an operation fails at once, or hangs until both are up again. At
    any time its result may get lost after it was carried out, or it may be carried out late or twice.
    """

    def __init__(self, world: World, *outages: list["Outage"]) -> None:
        """`outages` are lists, to which further ones may be added: the database's, and the link's own."""
        self._world = world
        self._outages = outages
        self.trouble = 0.0  # the probability that an operation goes wrong while everything is up

    def call(self, operation: Callable[[], Any], on_result: Action, on_failure: Action) -> None:
        world, random = self._world, self._world.random
        arrives = world.now + random.uniform(*LATENCY_SECONDS)
        for outage in sorted(chain(*self._outages), key=lambda outage: outage.begins):
            if outage.begins <= arrives < outage.ends:
                if not outage.hangs(self, random):
                    world.at(arrives, on_failure)
                    return
                arrives = outage.ends + random.uniform(*LATENCY_SECONDS)
        if random.random() < self.trouble:
            self._go_wrong(arrives, operation, on_result, on_failure)
        else:
            world.at(arrives, self._carry_out, operation, on_result)

    def _carry_out(self, operation: Callable[[], Any], on_result: Action) -> None:
        result = operation()
        self._world.after(self._world.random.uniform(*LATENCY_SECONDS), on_result, result)

    def _go_wrong(
        self, arrives: float, operation: Callable[[], Any], on_result: Action, on_failure: Action
    ) -> None:
        world, random = self._world, self._world.random
        match random.randrange(5):
            case 0:  # lost on the way there
                world.at(arrives, on_failure)
            case 1:  # carried out, and the result is lost
                world.at(arrives, operation)
                world.at(arrives + random.uniform(0.0, 2.0), on_failure)
            case 2:  # given up, and carried out later
                world.at(arrives, on_failure)
                world.at(arrives + random.uniform(0.1, 20.0), operation)
            case 3:  # carried out, its result lost, and repeated on a new connection
                world.at(arrives, operation)
                world.at(arrives + random.uniform(0.1, 5.0), self._carry_out, operation, on_result)
            case _:  # slow
                world.at(arrives + random.uniform(0.5, 15.0), self._carry_out, operation, on_result)


class Outage:
    """The time in which links are down. Meanwhile the operations of each link either all hang or all fail."""

    def __init__(self, begins: float, ends: float, *, hanging: float) -> None:
        """`hanging` is the probability that those of a link hang."""
        self.begins = begins
        self.ends = ends
        self._hanging = hanging
        self._hangs: dict[Link, bool] = {}

    def hangs(self, link: Link, random: random.Random) -> bool:
        if link not in self._hangs:
            self._hangs[link] = random.random() < self._hanging
        return self._hangs[link]
