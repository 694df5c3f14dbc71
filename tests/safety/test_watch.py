"""The watch sees what it is there for: else its silence in the other tests would say nothing."""

import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.safety.browser_watch import PATIENCE, Watch
from tests.safety.spy import Spy
from tests.support.server import Server


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


# Elements, each inside the one before it and at most with a class, and an attribute of the last.
BUILD = """([path, name, value]) => {
  let element = document.body;
  for (const step of path.split(' ')) {
    const [tag, className] = step.split('.');
    element = element.appendChild(document.createElement(tag || 'p'));
    if (className) element.className = className;
  }
  if (name) element.setAttribute(name, value);
}"""
FOREIGN = "img script svg input iframe style form template meta object"
NAMES = ("bdi", ".document-name", ".plain", ".greeting", ".prompt-title", ".attachment-name")


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        *((f".prose {tag}", "", "") for tag in FOREIGN.split()),  # in a reply
        (".prose a", "ping", "x"),
        (".prose a", "href", "javascript:x"),
        (".prose a", "href", "//a.test/"),
        (".prose a", "id", "chat"),
        (".prose a", "data-part", "text"),
        ("b", "onx", "x()"),  # anywhere
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
        *((f"{place} u", "", "") for place in (*NAMES, ".record-list h3")),  # in a name
    ],
)
def test_what_does_not_belong_is_seen(alert: Watch, path: str, name: str, value: str) -> None:
    alert.page.evaluate(BUILD, [path, name, value])
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
