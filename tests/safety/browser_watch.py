"""A watched browser window: what runs, what leaves, what the policy had to stop, what does not belong."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Request

from tests.e2e.chat_page import ChatPage
from tests.support.people import SESSIONS
from tests.support.server import Server

PATIENCE = 15_000  # milliseconds
REPORT = """addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
  console.error('POLICY', violatedDirective, blockedURI, sample));"""

# Elements that must never be in a reply. The list was made without sanitise.py, which says what may be.
FOREIGN = """() => {
  const tags = 'script style iframe object embed link meta base svg img video audio source track ' +
    'picture template form input select option textarea canvas dialog frame frameset slot noscript title';
  const attributes = new RegExp('^on|^style$|^src|action$|^ping$|^background$|^poster$|^data|^form|^name$|' +
    '^popover|^autofocus$|^tabindex$|^is$|^slot$|:|^cite$|^usemap$|^accesskey$|^contenteditable$|^hidden$');
  const html = 'http://www.w3.org/1999/xhtml', mathml = 'http://www.w3.org/1998/Math/MathML';
  const maths = 'math semantics annotation mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup ' +
    'munder mover munderover mmultiscripts mprescripts mtable mtr mtd mpadded mphantom';
  const inMaths = (element) => element.parentElement.closest('math') !== null || element.localName === 'math';
  const expected = (element) => element.namespaceURI === (inMaths(element) ? mathml : html) &&
    (!inMaths(element) || maths.split(' ').includes(element.localName));
  const isReachable = (element, address) => {
    if (address.startsWith('#')) return true;
    const { protocol } = new URL(address, document.baseURI);
    return /^https?:$/.test(protocol) || protocol === (element.localName === 'img' ? 'data:' : 'mailto:');
  };
  const wrong = [];
  const added = (element) => element.closest('.code-actions');
  const scrolls = (element) =>
    element.matches('pre[tabindex="0"], div.table[tabindex="0"], span.equation[tabindex="0"]');
  for (const element of document.querySelectorAll('.prose *')) {
    if (added(element)) continue;
    const foreign = tags.split(' ').includes(element.localName) || !expected(element);
    if (foreign) wrong.push(element.outerHTML.slice(0, 200));
    for (const { name, value } of element.attributes) {
      const leads = name === 'href' && !/^(https?:|mailto:|#fn-)/.test(value);
      const named = name === 'id' && !value.startsWith('fn-');
      if (name === 'tabindex' && scrolls(element)) continue;
      if (leads || named || attributes.test(name)) wrong.push(`${name}=${value} of ${element.localName}`);
    }
    const away = element.localName === 'a' && !element.hash.startsWith('#fn-');
    if (away && element.rel !== 'noopener noreferrer nofollow') wrong.push(`rel: ${element.outerHTML}`);
  }
  const plain = '.question .text > *, .thoughts .text > *, .system .text > *, bdi > *, ' +
    '.citations blockquote > *, .document-name > *, #text .text > *, .plain > *, .greeting > :not(bdi), ' +
    '.opening-questions button > *, .assistant-documents a > *, .prompt-title > *, .prompt-beginning > *, ' +
    '.record-list h2 > a > *, .record-list h3 > *, .attachment-name > *, ' +
    '.text-body > .text:not(.prose) > *, .changes > :not(ins, del), .changes > * > *, .text-body option > *';
  // The fenced code of a question is drawn as code: these elements, whose attributes are looked at below.
  const isFenced = (element) => element.matches('.question .text > :is(span.fence, figure.code)') &&
    Array.from(element.querySelectorAll('*')).every((each) => added(each) ||
      each.matches('figcaption, pre, code, span'));
  for (const element of document.querySelectorAll(plain)) {
    if (!isFenced(element)) wrong.push(`in a plain text: ${element.outerHTML.slice(0, 200)}`);
  }
  for (const element of document.querySelectorAll('*')) {
    const never = 'object, embed, base, audio, video, source, track, frame, frameset, animate, image, ' +
      'foreignObject, xss, marquee, meta[http-equiv=refresh i], ' +
      'iframe:not([sandbox=""], .text-body > [sandbox="allow-scripts"])';
    if (element.matches(never)) wrong.push(`anywhere: ${element.outerHTML.slice(0, 200)}`);
    for (const { name, value } of element.attributes) {
      const leads = /^(.*:)?href$|action$|^src$/.test(name) && !isReachable(element, value);
      const runs = /^on|^srcset$|^ping$|^poster$|^srcdoc$/.test(name);
      if (leads || runs) wrong.push(`anywhere: ${name}=${value}`);
    }
  }
  for (const script of document.scripts) {
    if (script.text || !script.src.startsWith(`${location.origin}/`)) wrong.push(script.outerHTML);
  }
  if (window.__pwned !== undefined) wrong.push('a script ran');
  return wrong;
}"""

# Texts that are neither in the page's text nor in an attribute or a form's field.
HIDDEN = """(texts) => {
  const all = [document.title, document.body.textContent];
  for (const element of document.querySelectorAll('*')) {
    all.push(...Array.from(element.attributes, ({ value }) => value), element.value);
  }
  const whole = all.join('\\n');
  return texts.filter((text) => !whole.includes(text));
}"""

ANSWERED = "(n) => document.querySelectorAll('article.reply[data-status=complete]').length === n"

# The server draws the fenced code of a question; the page fetches it beside the reply.
DRAWN = r"""() => [...document.querySelectorAll('.question [data-part=text]')].every((text) =>
  text.firstElementChild || !/^(`{3,}|~{3,})[^`\n]*\n[^]*?^\1[`~]*[ \t]*$/m.test(text.textContent))"""


class Watch:
    """`problems` is what happened so far: dialogs, exceptions, reports of the policy, requests that left."""

    def __init__(self, browser: Browser, server: Server, name: str) -> None:
        self.problems: list[str] = []
        self.runs = False  # whether a frame runs code: its policy reports what it stops, and the spy what not
        self.stopped: list[str] = []  # what that code asked for
        self._home = server.url
        self._file = ""
        self._context = browser.new_context(base_url=server.url, viewport={"width": 1280, "height": 800})
        self._context.set_default_timeout(PATIENCE)
        self._context.add_init_script(REPORT)
        self._context.on("console", lambda message: self._heard(message.text))
        self._context.on("dialog", lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()))
        self._context.on("weberror", lambda error: self.runs or self.problems.append(str(error.error)))
        self._context.on("request", self._on_request)
        if name in SESSIONS:
            self._context.add_cookies([{"name": "sessionid", "value": SESSIONS[name], "url": server.url}])
        self.page = self._context.new_page()

    def visit(self, path: str) -> None:
        """Go to a page, and look at what it consists of."""
        self.page.goto(path)
        self.look()

    def open_file(self, path: Path) -> None:
        """Open a downloaded page, and look at it."""
        self._file = path.as_uri()
        self.visit(self._file)

    def shows(self, *texts: str) -> None:
        """The page has each of these texts exactly so, and nothing of them became something else."""
        assert texts
        hidden = self.page.evaluate(HIDDEN, texts)
        assert hidden == [], (self.page.url, hidden)
        self.look()

    def look(self) -> None:
        wrong = self.page.evaluate(FOREIGN)
        assert wrong == [], (self.page.url, wrong)
        if self.page.url == self._file:
            return
        assert urlsplit(self.page.url).netloc == urlsplit(self._home).netloc

    def stream_and_reload(self, questions: Iterable[str]) -> None:
        """One conversation of these questions; what streamed is what is there after a reload."""
        chat = ChatPage(self.page)
        self.page.goto("/")
        for number, question in enumerate(questions, 1):
            chat.ask(question)
            self.page.wait_for_function(ANSWERED, arg=number)
            self.page.wait_for_function(DRAWN)
        self.look()
        streamed = self.texts()
        self.page.reload()
        self.look()
        reloaded = self.texts()
        assert reloaded == streamed, [
            pair for pair in zip(reloaded, streamed, strict=False) if pair[0] != pair[1]
        ]

    def texts(self) -> list[str]:
        """The HTML of each text on the page, without the buttons that the page's script adds.

        A reply without reasoning has a hidden, empty part for it while it streams, and none after a reload.
        """
        return self.page.evaluate("""() => [...document.querySelectorAll('article .text')].filter((text) =>
          text.hasChildNodes() || !text.matches('.thoughts[hidden] > .text')
        ).map((text) => {
          const twin = text.cloneNode(true);
          for (const button of twin.querySelectorAll('.code-actions')) button.remove();
          return twin.innerHTML;
        })""")

    def close(self) -> None:
        self._context.close()

    def _heard(self, text: str) -> None:
        if self.runs:
            return
        if "POLICY" in text or "Content Security" in text or "Trusted" in text:
            self.problems.append(text)

    def _on_request(self, request: Request) -> None:
        if self.runs and request.frame.parent_frame:
            self.stopped.append(request.url)
        elif not request.url.startswith(f"{self._home}/") and request.url != self._file:
            self.problems.append(request.url)
