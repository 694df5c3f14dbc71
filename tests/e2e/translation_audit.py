"""Text on a page of a made-up language (see pseudo_locale.py) that is not translated, or does not fit."""

from playwright.sync_api import Page

# Texts of people and models, names, and words that are the same in every language.
OTHERS = (
    "bdi, [dir=auto], time, code, pre, figcaption, script, style, noscript, title, option, .tags, "
    "[data-part=model], [data-action=use-model], "
    "#pick .label, .model-row .label, .select.single-model, .host, "
    ".field-request_id, "
    ".field-worker, td.field-name, td.field-process, .initial"
)
UNTRANSLATED = """([others, names]) => {
  const LABELS = ['aria-label', 'aria-description', 'title', 'placeholder', 'alt', 'data-send', 'data-stop'];
  const found = new Set();
  const plain = (text) => {
    let rest = text;
    while (/⟦[^⟦⟧]*⟧/.test(rest)) rest = rest.replace(/⟦[^⟦⟧]*⟧/g, '');
    for (const name of names) rest = rest.replaceAll(name, '');
    return /\\p{L}/u.test(rest);
  };
  const check = (text, where) => {
    if (plain(text)) found.add(`${where}: ${text.trim().replace(/\\s+/g, ' ').slice(0, 80)}`);
  };
  // A sentence may hold elements, such as a link: then its marks stand in what is around them.
  const whole = (element, name) => element.closest(name)?.textContent ?? 'no';
  const inSentence = (element) => ['p', 'div', 'span'].some((name) => !plain(whole(element, name)));
  const walk = (root) => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const parent = texts.currentNode.parentElement;
      if (!parent || parent.closest(others) || inSentence(parent)) continue;
      check(texts.currentNode.data, parent.localName);
    }
    for (const element of root.querySelectorAll('*')) {
      const said = element.getAttributeNames().filter((name) => name.startsWith('data-msg-'));
      for (const name of [...LABELS, ...said]) {
        // The whole of a text that is cut, the model of a door, a time in digits.
        if (name === 'title' && element.matches('[dir=auto], .door, time')) continue;
        check(element.getAttribute(name) ?? '', name);
      }
      if (element.matches('input:is([type=submit], [type=button])')) check(element.value, 'value');
      if (element.localName === 'template') walk(element.content);
    }
  };
  walk(document);
  return [...found];
}"""

TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (element) => element && element !== document.body &&
    (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement));
  const called = ({ localName, id, className, textContent }) =>
    `${localName}#${id}.${className} ${textContent.trim()}`;
  const wide = [];
  if (document.documentElement.scrollWidth > width) wide.push('the page');
  for (const element of document.querySelectorAll('body *')) {
    if (!element.checkVisibility() || element.closest('.hidden, .visually-hidden, .skip, svg')) continue;
    const { left, right } = element.getBoundingClientRect();
    if ((left < -1 || right > width + 1) && !scrolls(element.parentElement)) wide.push(called(element));
    const labels =
      'button, .button, summary, label, th, h2, h3, .new-chat, .reply-meta, .model-meta, .badges span';
    const ours = element.matches(labels) && !element.closest('[dir=auto], #pick, select');
    const room = element.clientWidth; // none where it is inline
    if (ours && room && element.scrollWidth > room + 1) wide.push(`cut: ${called(element)}`);
  }
  return wide.map((text) => text.replace(/\\s+/g, ' ').slice(0, 120));
}"""


def untranslated(page: Page, *names: str) -> list[str]:
    """Texts and labels without the marks of the language; `names` are allowed."""
    return page.evaluate(UNTRANSLATED, [OTHERS, sorted(names, key=len, reverse=True)])


def too_wide(page: Page, *widths: int) -> list[str]:
    """Return elements that stand out of the page at these widths, and labels that are cut off."""
    wide: list[str] = []
    before = page.viewport_size
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        wide += [f"{width}: {what}" for what in page.evaluate(TOO_WIDE)]
    if before:
        page.set_viewport_size(before)
    return wide
