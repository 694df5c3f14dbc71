"""Payloads of published advisories as questions, replies and thoughts: nothing runs, and nothing leaves."""

from collections.abc import Callable

import pytest

from chat.rendering.blocks import Blocks
from chat.rendering.markdown import render
from tests.fake_cloudflare.text_scenarios import says_line
from tests.safety.browser_watch import Watch
from tests.safety.payloads import LEAKS, SCRIPTS, aimed
from tests.safety.spy import Spy
from tests.support.server import Server

TURNS = 20  # in a conversation: a page shows the newest 50 messages
FAST = "size=1 delay=0.001"
Opens = Callable[[str], Watch]

# Applies the patches to a reply's text piece by piece, as the page's own stream does.
PLAY = """async (replies) => {
  const load = async (name) => {
    for (let turn = 0; turn < 600; turn++) {  // the page loads what streams a moment later
      const loaded = performance.getEntriesByType('resource');
      const found = loaded.find((entry) => entry.name.includes(`/js/${name}.`));
      if (found) return import(found.name);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the page never loaded ${name}.js`);
  };
  const [{ applyPatches }, { parseTrustedHtml }] = await Promise.all([load("reply"), load("page")]);
  const wrong = [];
  for (const { source, steps, whole } of replies) {
    const text = document.getElementById('thread').appendChild(document.createElement('div'));
    text.className = 'prose';
    for (const patches of steps) applyPatches(text, patches);
    for (const button of text.querySelectorAll('.code-actions')) button.remove();
    const expected = document.createElement('div');
    expected.append(parseTrustedHtml(whole));
    if (text.innerHTML !== expected.innerHTML) wrong.push([source, text.innerHTML, expected.innerHTML]);
  }
  return wrong;
}"""


def turns(payloads: list[str]) -> list[list[str]]:
    return [payloads[at : at + TURNS] for at in range(0, len(payloads), TURNS)]


def question(payload: str, options: str = FAST) -> str:
    """The payload as it is, and as what the fake replies; no question may hold a NUL."""
    return f"{payload}\n".replace("\0", "") + says_line(payload) + f" {options}"


@pytest.mark.parametrize("part", range(len(turns(list(SCRIPTS)))))
def test_no_payload_runs_as_question_or_reply(watched: Opens, spy: Spy, part: int) -> None:
    watched("alice").stream_and_reload(map(question, turns(aimed(SCRIPTS, spy.port))[part]))


@pytest.mark.parametrize("part", range(len(turns(list(LEAKS)))))
def test_no_payload_sends_a_request(watched: Opens, spy: Spy, part: int) -> None:
    watched("alice").stream_and_reload(map(question, turns(aimed(LEAKS, spy.port))[part]))


def test_a_reply_that_arrives_whole_is_as_harmless(watched: Opens, spy: Spy) -> None:
    everything = "\n\n".join(aimed(LEAKS, spy.port) + aimed(SCRIPTS, spy.port))
    watched("alice").stream_and_reload([question(everything, "")])


def test_thoughts_are_plain_text(watched: Opens, spy: Spy) -> None:
    thoughts = [*aimed(SCRIPTS, spy.port)[:8], *aimed(LEAKS, spy.port)[:2]]
    options = f"{FAST} field=reasoning_content"
    watched("alice").stream_and_reload(question(thought, options) for thought in thoughts)


def test_after_every_single_character_a_reply_is_as_harmless(watched: Opens, spy: Spy) -> None:
    replies = [played(source) for source in aimed(SCRIPTS, spy.port) + aimed(LEAKS, spy.port)]
    window = watched("alice")
    window.page.goto("/")
    assert window.page.evaluate(PLAY, replies) == []
    window.page.wait_for_timeout(200)  # what was loaded would have failed by now, and what failed would run
    window.look()


def played(source: str) -> dict[str, object]:
    """Return the HTML of a page that gets each character on its own, and of one that gets the whole text."""
    blocks = Blocks()
    steps = []
    for character in source:
        blocks.feed(character)
        steps.append(blocks.flush())
    return {"source": source, "steps": [*steps, blocks.finish()], "whole": "".join(render(source))}


def test_a_reply_that_is_cut_at_every_byte_says_the_same(server: Server, spy: Spy) -> None:
    text = "\n\n".join([*aimed(SCRIPTS, spy.port)[:20], "日本 😀 \u202e"])
    with server.person("alice").ask(says_line(text).replace("says", "cut_bytes")) as stream:
        assert stream.to_end().text == text
