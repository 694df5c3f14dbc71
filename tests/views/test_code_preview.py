"""The preview of HTML and SVG blocks: a document that its policy keeps from doing anything."""

import pytest

from tests.fake_cloudflare.text_scenarios import says_line
from tests.support.server import Person, Server
from tests.views.trees import ask_to_end

PAGE = "<title>é</title><script>alert(1)</script><p>Hi\n"
TEXT = f"```html\n{PAGE}```\n\n```svg\n<svg/>\n```\n"
PART = {"X-Requested-With": "fetch", "Accept": "text/html"}


@pytest.fixture
def path(alice: Person) -> str:
    return f"/messages/{ask_to_end(alice, says_line(TEXT)).meta['message']}/preview/"


def test_a_preview_is_a_document_in_a_sandbox(alice: Person, path: str) -> None:
    response = alice.get(path)
    assert response.text == f"<!doctype html>\n{PAGE}"
    policy = response.headers["Content-Security-Policy"].split("; ")
    assert policy[:2] == ["sandbox", "default-src 'none'"], "no script, no form, no host, no origin of ours"
    assert policy[2:] == [
        "style-src 'unsafe-inline'", "img-src data:", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'self'",
    ]  # fmt: skip
    expected = {
        "Content-Type": "text/html; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-store",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    assert {name: response.headers[name] for name in expected} == expected
    assert alice.get(path, params={"block": "2"}).text == "<!doctype html>\n<svg/>\n"


def test_a_page_of_ours_gets_the_frame(alice: Person, path: str) -> None:
    response = alice.client.get(path, params={"block": "1"}, headers=PART)
    assert f'<iframe sandbox src="{path}?block=1"' in response.text
    assert "Scripts don’t run" in response.text
    assert "sandbox;" not in response.headers["Content-Security-Policy"]
    assert "Scripts" not in alice.client.get(path, params={"block": "2"}, headers=PART).text


@pytest.mark.parametrize("number", ["0", "-1", "01", "1.5", "x", "", "²", "1234567"])
def test_a_block_that_is_no_number_is_refused(alice: Person, path: str, number: str) -> None:
    response = alice.get(path, params={"block": number})
    assert (response.status_code, "the number of a code block" in response.text) == (400, True)


def test_a_block_that_does_not_exist_is_not_found(alice: Person, server: Server, path: str) -> None:
    assert alice.get(path, params={"block": "3"}).status_code == 404
    question = ask_to_end(alice, f"{TEXT}\n{says_line('x')}").meta["user_message"]
    assert alice.get(f"/messages/{question}/preview/").status_code == 404
    assert server.person("bob").get(path, params={"block": "3"}).status_code == 404


def test_only_our_own_pages_may_show_frames(alice: Person) -> None:
    assert "frame-src 'self'" in alice.get("/").headers["Content-Security-Policy"]
