"""Clients written for Workers AI's own streams, as they are found in articles and examples, read ours."""

import pytest
from playwright.sync_api import Page

from tests.e2e.chat_page import ChatPage, Window, question, words
from tests.support.server import Server

EVENT_SOURCE = """run => new Promise(resolve => {
  const source = new EventSource(`/runs/${run}/stream/`);
  let text = '';
  source.onmessage = (event) => {
    if (event.data === '[DONE]') {
      source.close();
      return resolve(text);
    }
    text += JSON.parse(event.data).response;
  };
})"""

EVENT_SOURCE_LEFT_OPEN = """run => new Promise(resolve => {
  const source = new EventSource(`/runs/${run}/stream/`);
  const seen = { text: '', opened: 0, ends: 0 };
  source.onopen = () => seen.opened++;
  source.onmessage = (event) => {
    if (event.data === '[DONE]') seen.ends++;
    else seen.text += JSON.parse(event.data).response;
  };
  source.onerror = () => source.readyState === EventSource.CLOSED && resolve(seen);
})"""

POST = """const response = await fetch('/c/', {
    method: 'POST',
    headers: {
      'Content-Type': 'text/event-stream',
      'X-CSRFToken': document.querySelector('[name=csrfmiddlewaretoken]').value,
    },
    body: JSON.stringify({ content }),
  });"""

FETCH_LINES = f"""async content => {{
  {POST}
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (true) {{
    const {{ value, done }} = await reader.read();
    if (done) return text;
    for (const line of value.split('\\n')) {{
      if (!line.startsWith('data: ')) continue;
      const data = line.slice('data: '.length);
      if (data === '[DONE]') return text;
      text += JSON.parse(data).response;
    }}
  }}
}}"""

# Every read is cut into pieces of `size` bytes, through lines and characters, as networks do.
FETCH_BUFFER = f"""async ([content, size]) => {{
  {POST}
  const cut = new TransformStream({{
    transform(piece, out) {{
      for (let at = 0; at < piece.length; at += size) out.enqueue(piece.slice(at, at + size));
    }},
  }});
  const reader = response.body.pipeThrough(cut).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let buffer = '';
  while (true) {{
    const {{ value, done }} = await reader.read();
    if (done) return text;
    buffer += value;
    const lines = buffer.split('\\n');
    buffer = lines.pop();
    for (const line of lines) {{
      if (!line.startsWith('data: ')) continue;
      const data = line.slice('data: '.length);
      if (data === '[DONE]') return text;
      text += JSON.parse(data).response;
    }}
  }}
}}"""


@pytest.fixture
def page(window: Window, server: Server) -> Page:
    """A page of our own origin, for scripts that bring their client with them."""
    return ChatPage.open(window, server).page


def begin(server: Server, scenario: str) -> str:
    """A run that goes on after who asked for it has left."""
    with server.person("alice").ask(question(scenario)) as stream:
        return stream.run


def test_an_event_source_appends_each_response_until_done(page: Page, server: Server) -> None:
    run = begin(server, "words tokens=60 delay=0.01")
    assert page.evaluate(EVENT_SOURCE, run) == words(60)
    assert page.evaluate(EVENT_SOURCE, run) == words(60)  # and once more, of a run that has ended


def test_an_event_source_that_is_never_closed_does_not_loop(page: Page, server: Server) -> None:
    run = begin(server, "words tokens=20 delay=0.01")
    seen = page.evaluate(EVENT_SOURCE_LEFT_OPEN, run)
    assert seen == {"text": words(20), "opened": 1, "ends": 1}


def test_a_fetch_reader_splits_what_it_reads_into_lines(page: Page) -> None:
    assert page.evaluate(FETCH_LINES, question("words tokens=60 delay=0.02")) == words(60)


def test_a_fetch_reader_with_a_line_buffer_bears_any_cut(page: Page) -> None:
    text = page.evaluate(FETCH_BUFFER, [question("emoji delay=0.001"), 1])
    assert text == "Grüße 😀 👩‍👩‍👧 日本 \u2028 end"
