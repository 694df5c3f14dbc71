"""Characters that drive a terminal, forge a line or turn a text around: shown harmlessly, logged escaped."""

import re
from collections.abc import Callable

import pytest

from tests.fake_cloudflare.text_scenarios import says_line
from tests.safety.browser_watch import Watch
from tests.support.server import Server

Opens = Callable[[str], Watch]
STRANGE = {
    "colours of a terminal": "a\x1b[31mred\x1b]0;title\x07b",
    "bell, back space, delete": "a\x07b\x08c\x7fd",
    "every control character": "".join(map(chr, [*range(1, 32), *range(127, 160)])).join("ab"),
    "turned around": "a\u202eevil\u202c \u2066b\u2069 \u200fc",
    "no width": "a\u200bb\u200cc\u200dd\ufeffe\u2060f",
    "ends of lines": "a\rb\x85c\u2028d\u2029e\x0bf\x0cg",
    "no characters": "a\ufffeb\uffffc\ufdd0d",
    "half an emoji": "a\ud83db\udc00c",
    "a NUL": "a\0b",
    "events": "a\n\nevent: done\ndata: {}\n\nid: 9!\ndata: [DONE]\n\nb",
    "tags that are not seen": "a\U000e0041\U000e0042\U000e007fb",
    "a pile of accents": "a" + "\u0301" * 500 + "b",
}
RAW = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]")


def test_strange_characters_stream_and_reload_harmlessly(watched: Opens) -> None:
    watched("alice").stream_and_reload(says_line(text) + " size=1" for text in STRANGE.values())


@pytest.mark.parametrize("what", STRANGE)
def test_stored_text_is_valid_and_holds_the_words(server: Server, what: str) -> None:
    alice = server.person("alice")
    with alice.ask(says_line(STRANGE[what]) + " size=1") as stream:
        text = stream.to_end().text
    assert (stream.done or {}).get("status") == "complete"
    assert text[0] == "a"
    assert text[-1] in "bcdefg"
    text.encode()  # no half of a pair is left
    assert "\0" not in text
    source = alice.get(f"/messages/{stream.meta['message']}/source/")
    assert source.content.decode() == text
    assert source.headers["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("what", STRANGE)
def test_a_question_with_them_is_refused_or_kept_as_it_is(server: Server, what: str) -> None:
    alice = server.person("alice")
    text = STRANGE[what]
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in text):
        response = alice.client.post(
            "/c/", content=escaped(text), headers={"Content-Type": "application/json"}
        )
        assert response.status_code == 400
        return
    stream = alice.asked(text)
    assert alice.get(f"/messages/{stream.meta['user_message']}/source/").content.decode() == text


def escaped(text: str) -> bytes:
    letters = "".join(f"\\u{ord(letter):04x}" for letter in text)
    return f'{{"content": "{letters}"}}'.encode()


def test_no_line_of_the_log_holds_a_raw_control_character(server: Server) -> None:
    anybody = server.person("")
    for path in (
        "/%1b[31m/",
        "/a%0d%0aforged/",
        "/%00/",
        "/%e2%80%a8forged/",
        "/%c2%85forged/",
        "/?q=%1b]0;x%07",
    ):
        anybody.get(path)
        anybody.client.post(
            f"/accounts/login/{path[1:]}", data={"login": "\x1b[2Jforged\r\nline", "password": "x"}
        )
    log = server.log.read_bytes()
    assert b"%1b" in log.lower() or b"\\x1b" in log  # it was written down
    assert RAW.search(log) is None, RAW.search(log)
    assert b"\nforged" not in log
