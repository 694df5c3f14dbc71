"""The figures as lines of a table, each with its mark."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One figure; `mark` is the most it may be, or with `at_least` the least, None where there is none."""

    what: str
    measured: float
    unit: str
    mark: float | None = None
    at_least: bool = False

    @property
    def missed(self) -> bool:
        """True if the figure is on the wrong side of its mark, or NaN."""
        if self.mark is None:
            return False
        return not (self.measured >= self.mark if self.at_least else self.measured <= self.mark)

    @property
    def verdict(self) -> str:
        if self.mark is None:
            return ""
        return f"missed by {written(abs(self.measured - self.mark))} {self.unit}" if self.missed else "met"

    def cells(self) -> tuple[str, str, str, str]:
        sign = "≥" if self.at_least else "≤"
        mark = "" if self.mark is None else f"{sign} {written(self.mark)} {self.unit}"
        return self.what, f"{written(self.measured)} {self.unit}".strip(), mark.strip(), self.verdict


def written(value: float) -> str:
    """Three digits are what a measurement on a shared machine is worth."""
    if math.isnan(value):
        return "nothing"
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(title: str, lines: Sequence[Line]) -> str:
    """The lines under their title; numbers stand right."""
    rows = [line.cells() for line in lines]
    what, measured, mark = (max(len(row[column]) for row in rows) for column in range(3))
    body = [f"  {a:<{what}}  {b:>{measured}}  {c:>{mark}}  {d}".rstrip() for a, b, c, d in rows]
    return "\n".join([title, *body])


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile; `share` 0.99 is the value that 99 % do not exceed. NaN of nothing."""
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
