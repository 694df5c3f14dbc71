"""The section of the settings that shows a person's own usage: a month, by day and model."""

import calendar
import re
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from chat.accounts.timezones import timezone_of
from chat.catalog.costs import dollars, model_name
from chat.exceptions import BadRequest
from chat.formats import grouped_number, written_dollars
from chat.models import User
from chat.models.usage import DayUsage, usage_of

from ..requests import access
from .settings_shell import render_section
from .usage_chart import bars, colours

MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)
FIRST_USAGE_YEAR = 2000  # earlier months are refused; some time zones have no offset for them
USAGE_COLUMNS = ("requests", "prompt_tokens", "completion_tokens")


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
        "after": _following(month) if month < today.replace(day=1) else None,
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


def _following(month: date) -> date:
    return month + timedelta(days=_length(month))


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
        {"name": model_name(name), "colour": shades[name]}
        | _summed(each for each in used if each.model == name)
        for name in names
    ]


def _day(each: DayUsage, month: date) -> dict[str, Any]:
    day = date_format(month.replace(day=each.day), "MONTH_DAY_FORMAT")
    return {"day": day, "name": model_name(each.model)} | _summed([each])


def _summed(used: Iterable[DayUsage]) -> dict[str, Any]:
    """Return the sums as text, with the cost of the models whose prices are known."""
    rows = list(used)
    costs = [dollars([(each.model, each.prompt_tokens, each.completion_tokens)]) for each in rows]
    known = [cost for cost in costs if cost is not None]
    sums = {name: grouped_number(sum(getattr(each, name) for each in rows)) for name in USAGE_COLUMNS}
    cost = written_dollars(sum(known)) if known else ""
    return sums | {"cost": cost, "incomplete": len(known) < len(costs)}
