"""Rendering: how the cost grows when a text is twice as long, whole and streamed."""

import time
from collections.abc import Callable, Iterator

from .hold import HOSTILE
from .table import Line

LENGTH = 400_000  # code points, and then twice as many
PER_SECOND = 20_000  # code points of a stream; many times what a model writes
PIECE = 1_000
# As in chat/engine/streaming/html_feed.py: after a rendering the next one waits for ten times as long.
SHARE = 10
INTERVAL_SECONDS = 0.1
MARK = 2.2
SHORTEST_SECONDS = 0.1  # of the longer text: below that the ratio is noise, and the text costs nothing
KINDS = HOSTILE | {"footnotes": "[^1]: ", "headings": "# a\n", "fences": "```\na\n```\n", "lines": "a line\n"}
STREAMED = ("one list", "one table", "paragraphs", "fences")


def doublings() -> Iterator[Line]:
    """The worst ratio of CPU time for twice the text, of all these kinds; the best of two tries each."""
    streamed = {name: KINDS[name] for name in STREAMED}
    for title, cost, kinds in (("whole", _whole, KINDS), ("streamed", _streamed, streamed)):
        ratios = {name: _ratio(cost, piece) for name, piece in kinds.items()}
        name = max(ratios, key=lambda name: ratios[name])
        yield Line(f"{title}: 800 kB beside 400, worst of {len(ratios)} kinds", ratios[name], "×", MARK)
        yield Line(f"  which was: {name}; the median kind", sorted(ratios.values())[len(ratios) // 2], "×")


def _ratio(cost: Callable[[str], float], piece: str) -> float:
    text = piece * (2 * LENGTH // len(piece) + 1)
    short, long = text[:LENGTH], text[: 2 * LENGTH]
    tries = [(cost(short), cost(long)) for _ in range(2)]
    longer = min(long for _, long in tries)
    return longer / min(short for short, _ in tries) if longer >= SHORTEST_SECONDS else 0.0


def _whole(text: str) -> float:
    from chat.rendering.markdown import render

    began = time.process_time()
    render(text, "m")
    return time.process_time() - began


def _streamed(text: str) -> float:
    """CPU time of a stream at that pace, on a clock of its own: nothing waits."""
    from chat.rendering.blocks import Blocks

    blocks, spent, due = Blocks("m"), 0.0, 0.0
    for number, start in enumerate(range(0, len(text), PIECE)):
        began = time.process_time()
        blocks.feed(text[start : start + PIECE])
        now = number * PIECE / PER_SECOND
        is_due = now >= due
        if is_due:
            blocks.flush()
        cost = time.process_time() - began
        spent += cost
        if is_due:
            due = now + max(INTERVAL_SECONDS, SHARE * cost)
    began = time.process_time()
    blocks.finish()
    return spent + time.process_time() - began
