"""The content of made pages, without what stands beside it; their titles, dates and links."""

import pytest

from chat.files.confined.main_content import MAX_LINKS, page_of
from tests.web.made_pages import PAGES, Made

URL = "https://example.org/a/b"


@pytest.mark.parametrize("made", PAGES.values(), ids=list(PAGES))
def test_the_content_is_kept_and_the_rest_is_not(made: Made) -> None:
    text = page_of(made.html, URL).text
    assert [each for each in made.content if each not in text] == []
    assert [each for each in made.beside if each in text] == []


@pytest.mark.parametrize(
    ("head", "date"),
    [
        ('<meta property="article:published_time" content="2026-10-01T08:00:00+02:00">', "2026-10-01"),
        ('<meta property="article:published_time" content="2026-10-01">'
         '<meta property="article:modified_time" content="2026-10-05">', "2026-10-05"),
        ('<meta name="citation_publication_date" content="2026/10/01">', "2026-10-01"),
        ('<script type="application/ld+json">{"@graph": [{"datePublished": "2026-10-01T00:00"}]}</script>',
         "2026-10-01"),
        ('<script type="application/ld+json">[{"dateModified": 3}, {"dateModified": "2026-10-02"}]</script>',
         "2026-10-02"),
        ('<script type="application/ld+json">{nonsense</script>', ""),
        ('<meta name="date" content="2026-13-45">', ""),
        ('<meta name="date" content="yesterday">', ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_date_is_that_of_the_last_change(head: str, date: str) -> None:
    assert page_of(f"<head>{head}</head><p>a", URL).date == date


def test_a_time_in_the_article_is_its_date() -> None:
    assert page_of("<article><time datetime='2026-10-02T09:00'>today</time>", URL).date == "2026-10-02"


def test_links_are_whole_and_come_once() -> None:
    html = (
        "<nav><a href='../c'>c</a></nav><a href=' /d?x=1#top '>d</a><a href='/d?x=1'>d</a><a href='#e'>e</a>"
        "<a href='mailto:a@b.example'>f</a><a href='javascript:x'>g</a><a href='//[bad'>h</a><a>i</a>"
        f"<a href='/{'j' * 2_001}'>j</a><area href='http://example.net'>"
    )
    assert page_of(html, URL).links == [
        "https://example.org/c", "https://example.org/d?x=1", URL, "http://example.net",
    ]  # fmt: skip
    assert page_of(f"<base href='https://example.com/x/'>{html}", URL).links[0] == "https://example.com/c"
    many = "".join(f"<a href='/{n}'>x</a>" for n in range(2 * MAX_LINKS))
    assert len(page_of(many, URL).links) == MAX_LINKS
