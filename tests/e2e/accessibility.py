"""An audit of the accessibility that can be seen on a page: names, references, contrast."""

from playwright.sync_api import Page

# Every control and picture has a name; what is referred to exists; ids and the first heading are unique.
STRUCTURE = r"""() => {
  const problems = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const labels = (el) => [...(el.labels ?? [])].map((label) => label.textContent).join(' ').trim();
  const name = (el) => el.ariaLabel || labels(el) || el.textContent.trim();
  if (!document.documentElement.lang) problems.push('the page has no language');
  if (!document.title.trim()) problems.push('the page has no title');
  if (all('h1').length !== 1) problems.push(`${all('h1').length} first headings`);
  if (all('main').length !== 1) problems.push(`${all('main').length} main parts`);
  for (const el of all('a, button, input:not([type=hidden]), select, textarea, summary, nav, section')) {
    if (!name(el)) problems.push(`without a name: ${el.outerHTML.slice(0, 120)}`);
  }
  for (const el of all('img:not([alt])')) problems.push(`without alt: ${el.outerHTML}`);
  for (const el of all('svg:not([aria-hidden=true])')) problems.push('a drawing that is read aloud');
  const ids = all('[id]').map((el) => el.id);
  for (const id of ids.filter((id, at) => ids.indexOf(id) !== at)) problems.push(`twice: #${id}`);
  for (const attribute of ['for', 'aria-describedby', 'aria-labelledby', 'popovertarget', 'form']) {
    for (const el of all(`[${attribute}]`)) {
      for (const id of el.getAttribute(attribute).split(/\s+/)) {
        if (!document.getElementById(id)) problems.push(`${attribute} leads nowhere: ${id}`);
      }
    }
  }
  const levels = all('h1, h2, h3, h4').map((el) => Number(el.tagName[1]));
  if (levels.some((level, at) => at && level > levels[at - 1] + 1)) problems.push('a heading skips a level');
  return problems;
}"""

# WCAG 2.2: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
CONTRAST = r"""() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const channels = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return context.getImageData(0, 0, 1, 1).data;
  };
  const linear = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ratio = (one, other) => {
    const [dark, light] = [luminance(channels(one)), luminance(channels(other))].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const style = (el, pseudo) => getComputedStyle(el, pseudo);
  const ground = (el) => {
    for (; el; el = el.parentElement) {
      const color = style(el).backgroundColor;
      if (channels(color)[3] === 255) return color;
    }
    return style(document.documentElement).colorScheme === 'dark' ? '#000' : '#fff';
  };
  const problems = [];
  const judge = (what, el, color, behind, least) => {
    const found = ratio(color, behind);
    if (found < least) problems.push(`${what} ${found.toFixed(2)} < ${least}: ${el.outerHTML.slice(0, 90)}`);
  };
  for (const el of document.querySelectorAll('body *')) {
    if (!el.checkVisibility({ visibilityProperty: true }) || el.closest('.hidden, svg')) continue;
    const says = [...el.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (says || el.matches('input, textarea, select')) judge('text', el, style(el).color, ground(el), 4.5);
    if (el.placeholder) judge('placeholder', el, style(el, '::placeholder').color, ground(el), 4.5);
    if (el.matches('button') && el.querySelector('svg')) judge('icon', el, style(el).color, ground(el), 3);
    if (el.matches('input, #composer, a.button, .danger') && el.type !== 'hidden') {
      const { outlineStyle, outlineColor, borderTopColor } = style(el);
      const edge = outlineStyle === 'none' ? borderTopColor : outlineColor; // in focus
      judge('border', el, edge, ground(el.parentElement), 3);
    }
  }
  return problems;
}"""


def problems(page: Page) -> list[str]:
    """Return the problems of a page as it is shown now, in light and in dark colours."""
    found: list[str] = page.evaluate(STRUCTURE)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {problem}" for problem in page.evaluate(CONTRAST)]
    return found
