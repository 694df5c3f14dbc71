"""Processor time of a page's main thread, in seconds: other work on the machine is not counted."""

from types import TracebackType

from playwright.sync_api import Page

PARTS = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


class Effort:
    """`with Effort(page) as effort: …`, then `effort.seconds` is what that cost."""

    def __init__(self, page: Page) -> None:
        self.seconds = 0.0
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def __enter__(self) -> "Effort":
        self._before = self._spent()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds = self._spent() - self._before
        self._session.detach()

    def _spent(self) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return sum(metric["value"] for metric in metrics if metric["name"] in PARTS)
