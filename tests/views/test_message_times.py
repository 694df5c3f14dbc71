"""The time of each message and the names of the days between them, as their reader counts and writes them."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from chat.views.conversations.thread import add_times

BERLIN = ZoneInfo("Europe/Berlin")


def shown(zone: ZoneInfo, *created: datetime) -> list[tuple[str, str]]:
    """The time and the day of messages that are read at noon on 22 November 2026."""
    items = [{"created": at} for at in created]
    add_times(items, zone, datetime(2026, 11, 22, 12, tzinfo=UTC))
    return [(f"{item['at']:%H:%M}", str(item["day"])) for item in items]


def at(day: int, hour: int, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


def test_a_day_is_named_where_it_begins() -> None:
    days = [day for _, day in shown(BERLIN, at(12, 9), at(12, 10), at(21, 9), at(22, 9), at(22, 10))]
    assert days == ["12 November 2026", "", "Yesterday", "Today", ""]


def test_a_conversation_of_today_names_no_day() -> None:
    assert shown(BERLIN, at(22, 9), at(22, 10)) == [("10:00", ""), ("11:00", "")]


def test_a_day_begins_at_the_readers_midnight() -> None:
    late = at(21, 22), at(21, 23)
    assert shown(BERLIN, *late) == [("23:00", "Yesterday"), ("00:00", "Today")]
    assert shown(ZoneInfo("UTC"), *late) == [("22:00", "Yesterday"), ("23:00", "")]


def test_summer_time_counts() -> None:
    assert shown(BERLIN, at(1, 12, month=7)) == [("14:00", "1 July 2026")]


WRITTEN = {
    "en": "3 November 2026, 09:05 UTC",
    "de": "3. November 2026, 09:05 UTC",
    "fr": "3 novembre 2026, 09:05 UTC",
}


@pytest.mark.parametrize("language", WRITTEN)
def test_a_time_is_written_in_the_readers_language(language: str) -> None:
    with translation.override(language):
        found = render_to_string("chat/_timestamp.html", {"when": datetime(2026, 11, 3, 9, 5, tzinfo=UTC)})
    tag = '<time class="timestamp" datetime="2026-11-03T09:05:00+00:00">'
    assert found.strip() == f"{tag}{WRITTEN[language]}</time>"
