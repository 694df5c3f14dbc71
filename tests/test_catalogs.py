"""German and French have every sentence, with the same placeholders, and are compiled as they are written."""

import re

import pytest
from django.conf import settings

from tests.support.catalogs import LANGUAGES, compiled, source
from tests.support.pseudo_locale import messages

pytestmark = pytest.mark.parametrize("language", LANGUAGES)
# Of gettext and of str.format, tags, entities and Cloudflare's permissions: a translation has each as often.
HELD = re.compile(r"%\(\w+\)[sd]|\{\w*\}|</?\w+[^>]*>|&\w+;|(?:Workers AI|AI \w+|Browser Run): [A-Z]\w+")
# A singular may say "one" without the number.
# Words that a catalog has another one for: in German a person, to sign in, and what a model calls.
OTHER_WORDS = {"de": re.compile(r"(?<![„(])\btools?\b|benutzerdef|konversation|unterhaltung|einlogg", re.I)}
NUMBERS = {"%(n)s", "%(number)s", "%(number)d", "%(days)s", "%(count)s", "{n}"}


def test_every_sentence_of_the_code_is_translated(language: str) -> None:
    entries = {entry.message: entry for entry in source(language)}
    assert sorted(messages().keys() - entries.keys()) == []
    assert {message: entries[message].plural for message in messages()} == messages()
    assert [
        entry.message for entry in entries.values() if entry.is_fuzzy or not all(entry.forms.values())
    ] == []


def test_no_catalog_has_a_sentence_that_the_code_lost(language: str) -> None:
    assert sorted({entry.message for entry in source(language)} - messages().keys()) == []


def test_a_translation_has_the_placeholders(language: str) -> None:
    for entry in source(language):
        for number, text in entry.forms.items():
            wanted = sorted(HELD.findall(entry.plural if number else entry.message))
            found = sorted(HELD.findall(text))
            if entry.plural and number == 0:
                wanted, found = (sorted(set(held) - NUMBERS) for held in (wanted, found))
            assert found == wanted, text


def test_a_translation_begins_and_ends_alike(language: str) -> None:
    for entry in source(language):
        for text in entry.forms.values():
            assert re.findall(r"^\s*|\s*$", text) == re.findall(r"^\s*|\s*$", entry.message), text


def test_a_date_has_a_year_where_english_has_one(language: str) -> None:
    for entry in source(language):
        if entry.message.startswith("date "):
            assert [text for text in entry.forms.values() if ("Y" in text) != ("Y" in entry.message)] == []


def test_each_thing_has_one_word(language: str) -> None:
    """A conversation is called a chat, a user a person, and nobody logs in or out."""
    others = re.compile(r"\b(conversations?|(?<!“)users?|log(s|ged)? (in|out)|login|logout)\b", re.I)
    said = [text for entry in source(language) for text in (entry.message, entry.plural or "")]
    assert [text for text in said if others.search(text)] == []
    if own := OTHER_WORDS.get(language):
        assert [text for entry in source(language) for text in entry.forms.values() if own.search(text)] == []


def test_the_compiled_catalog_is_the_written_one(language: str) -> None:
    written: dict[tuple[str, int] | str, str] = {}
    for entry in source(language):
        for number, text in entry.forms.items():
            written[(entry.message, number) if entry.plural else entry.message] = text
    assert compiled(language) == written


def test_the_site_offers_the_language(language: str) -> None:
    assert language in dict(settings.LANGUAGES)
