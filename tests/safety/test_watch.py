"""The watch sees what it is there for: else its silence in the other tests would say nothing."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.safety.browser_watch import PATIENCE, Watch
from tests.safety.spy import Spy
from tests.support.server import Server

Opens = Callable[[str], Watch]


@pytest.fixture
def alert(chromium: Browser, server: Server) -> Watch:
    """A window of alice's whose problems are looked at here."""
    window = Watch(chromium, server, "alice")
    window.page.goto("/")
    return window


def test_a_request_that_leaves_is_counted(alert: Watch, spy: Spy) -> None:
    alert.page.goto(f"http://foreign.test:{spy.port}/?q=SECRET")
    assert "/?q=SECRET" in spy.calls
    assert any("SECRET" in problem for problem in alert.problems)
    spy.calls.clear()
    alert.close()


@pytest.mark.parametrize(
    ("script", "word"),
    [
        ("alert('hello')", "hello"),
        ("document.body.insertAdjacentHTML('beforeend', '<b>x</b>')", "Trusted"),
        ("void document.body.append(Object.assign(new Image(), { src: 'http://foreign.test/' }))", "img-src"),
        ("document.body.setAttribute('style', 'color: red')", "style-src"),
        ("setTimeout(() => { throw new Error('lost'); })", "lost"),
    ],
)
def test_running_and_blocked_scripts_are_seen(alert: Watch, script: str, word: str) -> None:
    alert.page.evaluate(f"() => {{ try {{ {script} }} catch {{}} }}")
    give_up = time.monotonic() + PATIENCE / 1000
    while not any(word in problem for problem in alert.problems):  # the browser tells it in its own time
        assert time.monotonic() < give_up, alert.problems
        alert.page.wait_for_timeout(20)
    alert.close()


@pytest.mark.parametrize(
    "tag", ["img", "script", "svg", "input", "iframe", "style", "form", "template", "meta", "object"]
)
def test_foreign_elements_in_a_reply_are_seen(alert: Watch, tag: str) -> None:
    alert.page.evaluate(
        """(tag) => {
          const prose = document.body.appendChild(document.createElement('div'));
          prose.className = 'prose';
          prose.append(document.createElement(tag));
        }""",
        tag,
    )
    with pytest.raises(AssertionError):
        alert.look()
    alert.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ping", "x"),
        ("href", "javascript:x"),
        ("href", "//a.test/"),
        ("id", "chat"),
        ("data-part", "text"),
    ],
)
def test_an_attribute_that_does_not_belong_is_seen(alert: Watch, name: str, value: str) -> None:
    alert.page.evaluate(
        """([name, value]) => {
          const prose = document.body.appendChild(document.createElement('div'));
          prose.className = 'prose';
          prose.appendChild(document.createElement('a')).setAttribute(name, value);
        }""",
        [name, value],
    )
    with pytest.raises(AssertionError):
        alert.look()
    alert.close()


@pytest.mark.parametrize(
    ("tag", "name", "value"),
    [
        ("b", "onx", "x()"),
        ("a", "href", "javascript:x"),
        ("a", "href", "vbscript:x"),
        ("a", "href", "data:text/html,x"),
        ("form", "action", "javascript:x"),
        ("button", "formaction", "data:text/html,x"),
        ("img", "src", "file:///x"),
        ("img", "srcset", "http://foreign.test/ 1x"),
        ("iframe", "title", "x"),
        ("object", "title", "x"),
        ("meta", "http-equiv", "Refresh"),
    ],
)
def test_forbidden_elements_are_seen_everywhere(alert: Watch, tag: str, name: str, value: str) -> None:
    alert.page.evaluate(
        """([tag, name, value]) => {
          const element = document.body.appendChild(document.createElement(tag));
          element.setAttribute(name, value);
        }""",
        [tag, name, value],
    )
    with pytest.raises(AssertionError):
        alert.look()
    alert.close()


@pytest.mark.parametrize(
    "place",
    [
        "bdi",
        ".document-name",
        ".plain",
        ".greeting",
        ".prompt-title",
        ".attachment-name",
        ".record-list > h3",
    ],
)
def test_an_element_in_a_name_is_seen(alert: Watch, place: str) -> None:
    alert.page.evaluate(
        """(place) => {
          let parent = document.body;
          for (const step of [...place.split(' > '), 'u']) {
            const element = document.createElement(step.startsWith('.') ? 'p' : step);
            if (step.startsWith('.')) element.className = step.slice(1);
            parent = parent.appendChild(element);
          }
        }""",
        place,
    )
    with pytest.raises(AssertionError):
        alert.look()
    alert.close()


def test_a_text_that_is_not_shown_is_missed(alert: Watch) -> None:
    alert.page.evaluate("() => { document.title = 'Chess & kings'; }")
    alert.shows("Chess & kings")
    with pytest.raises(AssertionError, match="queens"):
        alert.shows("Chess & queens")
    alert.close()


@pytest.mark.parametrize(
    "policy", ["", "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"]
)
def test_actions_of_a_downloaded_page_are_seen(alert: Watch, tmp_path: Path, policy: str) -> None:
    """Without a policy the script runs, with one the browser reports it."""
    page = tmp_path / "page.html"
    page.write_text(
        f"{policy}<body><script>top.__pwned = 1; alert('ran')</script><img src=x onerror=alert(2)>"
    )
    with pytest.raises(AssertionError):
        alert.open_file(page)
    alert.page.wait_for_timeout(100)
    assert [problem for problem in alert.problems if "POLICY" in problem or problem == "ran"]
    alert.close()
