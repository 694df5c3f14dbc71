"""The chart of a month's usage: a bar for each day, of one piece for each model."""

import calendar
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

from django.utils.formats import date_format

from chat.catalog.costs import model_name
from chat.formats import grouped_number
from chat.models.usage import DayUsage

CHART_COLORS = 5  # the last one is shared by all further models
SLOT, BAR, HEIGHT = 10, 8, 100  # of the drawing, which is stretched to the page


def colours(used: Sequence[DayUsage]) -> dict[str, int]:
    """Return the number of each model's colour, from 1; the models with the most tokens come first."""
    tokens: Counter[str] = Counter()
    for each in used:
        tokens[each.model] += each.tokens
    ordered = sorted(tokens, key=lambda name: (-tokens[name], name))
    return {name: min(place, CHART_COLORS) for place, name in enumerate(ordered, 1)}


def bars(used: Sequence[DayUsage], month: date) -> dict[str, Any] | None:
    """Return the chart's context; None if no tokens were used."""
    by_day: Counter[int] = Counter()
    for each in used:
        by_day[each.day] += each.tokens
    most = max(by_day.values(), default=0)
    if not most:
        return None
    days = calendar.monthrange(month.year, month.month)[1]
    return {
        "width": days * SLOT,
        "height": HEIGHT,
        "bar": BAR,
        "most": grouped_number(most),
        "pieces": _pieces(used, month, most),
        "marks": [date_format(month.replace(day=day), "MONTH_DAY_FORMAT") for day in (1, days)],
    }


def _pieces(used: Sequence[DayUsage], month: date, most: int) -> list[dict[str, Any]]:
    shades = colours(used)
    tops: Counter[int] = Counter()  # tokens of each day that are drawn already
    pieces = []
    for each in sorted(used, key=lambda each: (each.day, shades[each.model], each.model)):
        if not each.tokens:
            continue
        tops[each.day] += each.tokens
        day = date_format(month.replace(day=each.day), "MONTH_DAY_FORMAT")
        pieces.append(
            {
                "x": (each.day - 1) * SLOT + (SLOT - BAR) // 2,
                "y": f"{HEIGHT * (1 - tops[each.day] / most):.2f}",
                "height": f"{HEIGHT * each.tokens / most:.2f}",
                "colour": shades[each.model],
                "title": f"{day}: {model_name(each.model)}, {grouped_number(each.tokens)}",
            }
        )
    return pieces
