"""Times on pages, written as the reader's language writes dates."""

from datetime import UTC, datetime

import pytest
from django.template.loader import render_to_string
from django.utils import translation

AT = datetime(2026, 11, 3, 9, 5, tzinfo=UTC)
WRITTEN = {
    "en": "3 November 2026, 09:05 UTC",
    "de": "3. November 2026, 09:05 UTC",
    "fr": "3 novembre 2026, 09:05 UTC",
}


@pytest.mark.parametrize("language", WRITTEN)
def test_a_time_is_written_in_the_readers_language(language: str) -> None:
    with translation.override(language):
        shown = render_to_string("chat/_timestamp.html", {"when": AT})
    assert (
        shown.strip()
        == f'<time class="timestamp" datetime="2026-11-03T09:05:00+00:00">{WRITTEN[language]}</time>'
    )
