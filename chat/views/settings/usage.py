"""The section of the settings that shows a person's own usage: a month, by day and model, with a chart."""

import calendar
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from chat.accounts.timezones import timezone_of
from chat.catalog.catalog import cost_of
from chat.conversations.tools.shown import used_name
from chat.exceptions import BadRequest
from chat.formats import grouped_number, written_cost
from chat.models import User
from chat.models.usage import DayUsage, usage_of

from ..requests import access
from .settings_shell import render_section

CHART_COLORS = 5  # the last one is shared by all further models
SLOT, BAR, HEIGHT = 10, 8, 100  # of the drawing, which is stretched to the page
MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)
FIRST_USAGE_YEAR = 2000  # earlier months are refused; some time zones have no offset for them
USAGE_COLUMNS = ("requests", "prompt_tokens", "completion_tokens")


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
    days = _length(month)
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
                "title": f"{day}: {used_name(each.model)}, {grouped_number(each.tokens)}",
            }
        )
    return pieces


@access.require_methods("GET", "HEAD", page=True)
def usage(request: HttpRequest) -> HttpResponse:
    """Show the person's own usage of this month, or of `?month=2026-11`, in their time zone."""
    user, zone = access.get_user(request), timezone_of(request)
    today = timezone.now().astimezone(zone).date()
    month = _month(request, today)
    used = usage_of(user, _day_starts(month, zone))
    context = {
        "month": date_format(month, "YEAR_MONTH_FORMAT"),
        "before": _before(month, user, zone),
        "after": month + timedelta(days=_length(month)) if month < today.replace(day=1) else None,
        "chart": bars(used, month),
        "models": _by_model(used),
        "days": [_day(each, month) for each in used],
        "total": _summed(used),
    }
    return render_section(request, "usage", "settings/usage.html", context)


def _month(request: HttpRequest, today: date) -> date:
    """Return the first day of the requested month. Raises BadRequest, also for a month to come."""
    text = request.GET.get("month")
    if text is None:
        return today.replace(day=1)
    match = MONTH.fullmatch(text)
    try:
        month = date(int(match[1]), int(match[2]), 1) if match else None
    except ValueError:
        month = None
    if month is None or month.year < FIRST_USAGE_YEAR or month > today:
        raise BadRequest(_("“month” must be a past month or this one, such as 2026-11."))
    return month


def _length(month: date) -> int:
    return calendar.monthrange(month.year, month.month)[1]


def _before(month: date, user: User, zone: tzinfo) -> date | None:
    """Return the month before, None if the account was made later."""
    if month <= user.date_joined.astimezone(zone).date().replace(day=1) or month <= date(
        FIRST_USAGE_YEAR, 1, 1
    ):
        return None
    return (month - timedelta(days=1)).replace(day=1)


def _day_starts(month: date, zone: tzinfo) -> list[datetime]:
    """Return the start of each day of the month in the zone, and the end of the last day."""
    days = range(_length(month) + 1)
    return [datetime.combine(month + timedelta(days=day), time(), zone) for day in days]


def _by_model(used: list[DayUsage]) -> list[dict[str, Any]]:
    """Return a row for each model, those with the most tokens first."""
    shades = colours(used)
    names = sorted({each.model for each in used}, key=lambda name: list(shades).index(name))
    return [
        {"name": used_name(name), "colour": shades[name]}
        | _summed(each for each in used if each.model == name)
        for name in names
    ]


def _day(each: DayUsage, month: date) -> dict[str, Any]:
    day = date_format(month.replace(day=each.day), "MONTH_DAY_FORMAT")
    return {"day": day, "name": used_name(each.model)} | _summed([each])


def _summed(used: Iterable[DayUsage]) -> dict[str, Any]:
    rows = list(used)
    costs = [cost_of(each) for each in rows]
    sums = {name: grouped_number(sum(getattr(each, name) for each in rows)) for name in USAGE_COLUMNS}
    return sums | {"cost": written_cost(*costs)}
