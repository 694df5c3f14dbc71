/** A part of a conversation as office programs and mail read it: HTML of simple tags, and plain text. */

// Attributes instead of styles: the content policy holds for the HTML of a clipboard too.
const TABLE = { border: '1', rules: 'all', cellPadding: '5' };
const KEPT = new Set('p ul ol li table thead tbody tr th td blockquote pre hr br a strong em del code sup sub kbd s ins mark u b i'.split(' '));
const RENAMED = { h3: 'h1', h4: 'h2', h5: 'h3', h6: 'h4', summary: 'p' }; // the page has two levels above a text's own
const DIRECTED = new Set('p ul ol table blockquote h1 h2 h3 h4'.split(' '));
const LEFT_OUT =
  'button, svg, figcaption, link, [data-part=steps], noscript, [hidden]:not(pre), .hidden, .code-actions, .host, .fence, .message-footer, .thoughts, .waiting, .unfold, .day, .retry, .code-preview';
const ALERT_LANGUAGES = ['de', 'fr']; // their words are in the style sheet
/** The first letter that has a direction is one of Hebrew, Arabic and their like. */
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdfd\ufe70-\ufefc]/u;

/**
 * @param {Node[]} nodes  of the page, or clones of them; they stay as they are
 * @param {boolean} [typed]  true: their line breaks count, as in a question
 * @returns {{html: string, text: string}}
 */
export function richText(nodes, typed = false) {
  const root = element('div', nodes.flatMap((node) => cleaned(node, typed)));
  const serializer = new XMLSerializer();
  const html = Array.from(root.childNodes, (node) => serializer.serializeToString(node)).join('');
  return { html: html.replaceAll(' xmlns="http://www.w3.org/1999/xhtml"', ''), text: textOf(root) };
}

function element(name, children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

/** @returns {Node[]} the node with simple tags only, without classes and the parts of the page around it */
function cleaned(node, typed) {
  if (node.nodeType === Node.TEXT_NODE) return typed ? lines(node.data) : [node.data.replace(/\s+/g, ' ')].filter(Boolean).map((text) => new Text(text));
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(LEFT_OUT)) return [];
  if (node.localName === 'math') return equation(node);
  if (node.localName === 'pre') return [code(node)];
  const isTyped = node.matches('.text') ? !node.matches('.prose') : typed;
  const children = Array.from(node.childNodes).flatMap((child) => cleaned(child, isTyped));
  if (node.matches('div.footnote')) return footnote(node, children);
  if (node.matches('.equation')) return aside(node, children);
  const name = RENAMED[node.localName] ?? (KEPT.has(node.localName) ? node.localName : '');
  if (isTyped && name === '' && node.matches('.text')) return [element('p', children)];
  return name ? [withAttributes(node, element(name, children))] : children;
}

/** A letter in a fence is pasted as the words that it is. */
function code(pre) {
  const text = (pre.querySelector('code') ?? pre).textContent;
  return pre.parentNode?.matches?.('.words') ? element('p', lines(text.trimEnd())) : element('pre', [text]);
}

function lines(text) {
  return text.split('\n').flatMap((line, n) => (n ? [element('br', []), new Text(line)] : [new Text(line)]));
}

function withAttributes(node, made) {
  const { localName: name } = made;
  if (name === 'a') return node.getAttribute('href')?.startsWith('#') ? element('span', made.childNodes) : Object.assign(made, { href: node.href });
  if (name === 'ol' && node.start !== 1) made.start = node.start;
  if (name === 'table') Object.assign(made, TABLE);
  const align = ['center', 'right'].find((side) => node.matches(`:is(td, th).${side}`));
  if (align) made.align = align;
  if (DIRECTED.has(name) && RIGHT_TO_LEFT.test(made.textContent)) made.dir = 'rtl';
  if (node.matches('summary, .alert')) made.replaceChildren(element('strong', [alertWord(node) || made.textContent]));
  return made;
}

function alertWord(node) {
  if (!node.matches('.alert') || !ALERT_LANGUAGES.includes(document.documentElement.lang)) return '';
  const kind = node.textContent.toLowerCase();
  const shown = document.querySelector(`.prose .${kind}`);
  return shown ? getComputedStyle(shown).getPropertyValue('--word').trim().replaceAll('"', '') : '';
}

function footnote(node, children) {
  const label = element('sup', [node.querySelector('.label').textContent]);
  const text = children.find((child) => child.localName === 'p');
  text?.prepend(label, ' ');
  return children.slice(1); // without its label
}

// Equations. Word, Gmail and Google Docs read no MathML in HTML, and run its letters together.

/** @returns {Node[]} what can be written in a line with raised and lowered signs, or else the equation's TeX */
function equation(math) {
  const mark = math.getAttribute('display') === 'block' ? '$$' : '$';
  const tex = `${mark}${math.querySelector('annotation').textContent}${mark}`;
  const parts = inLine(math.querySelector('semantics')?.firstElementChild ?? math);
  const made = element('span', parts ?? lines(tex));
  made.plain = parts && !made.querySelector('sup, sub') ? made.textContent : tex;
  return [made];
}

/** A displayed equation has its own line. */
function aside(node, children) {
  const isLast = !node.nextSibling || node.nextSibling.localName === 'br';
  return [...(node.previousSibling ? [element('br', [])] : []), ...children, ...(isLast ? [] : [element('br', [])])];
}

const SCRIPTS = { msub: ['sub'], msup: ['sup'], msubsup: ['sub', 'sup'] };
const SPACED = /^[=≠≈≡≤≥<>+−±×·⋅÷→⇒⇔↦∈∉⊂⊆∪∩∧∨∼∝]$/;

/** @returns {Node[]|null} null: it needs more than a line */
function inLine(node) {
  const name = node.localName;
  const text = node.textContent.replace(/[\u2061-\u2064]/g, ''); // operators that are not seen
  if (name === 'mi') return [text.length === 1 && !node.hasAttribute('mathvariant') ? element('i', [text]) : new Text(text)];
  if (name === 'mn' || name === 'mtext') return [new Text(text)];
  if (name === 'mo') return [new Text(SPACED.test(text) && node.previousElementSibling ? ` ${text} ` : text === ',' ? ', ' : text)];
  if (name === 'mspace') return [new Text(' ')];
  if (name === 'mrow' && !node.className) return all(Array.from(node.children));
  const [base, ...scripts] = node.children;
  if (!SCRIPTS[name] || scripts.some((script) => script.querySelector('msub, msup, msubsup'))) return null;
  const parts = [base, ...scripts].map(inLine);
  return parts.includes(null) ? null : [...parts[0], ...SCRIPTS[name].map((tag, n) => element(tag, parts[n + 1]))];
}

function all(nodes) {
  const parts = nodes.map(inLine);
  return parts.includes(null) ? null : parts.flat();
}

// Plain text

const BLOCKS = {
  pre: (node) => node.textContent.replace(/\n$/, ''),
  hr: () => '',
  ul: (node) => list(node, () => '• '),
  ol: (node) => list(node, (n) => `${node.start + n}. `),
  table: (node) => Array.from(node.rows, row).join('\n'),
};
for (const name of ['p', 'blockquote', 'h1', 'h2', 'h3', 'h4']) BLOCKS[name] = (node) => textOf(node);

/** Return the text of clean nodes, with `gap` between blocks. */
function textOf(parent, gap = '\n\n') {
  const found = [];
  let words = ''; // of the block that has no element of its own
  const end = () => {
    found.push(words.replace(/ *\n */g, '\n').trim());
    words = '';
  };
  for (const child of parent.childNodes) {
    const write = BLOCKS[child.localName];
    if (!write) words += inWords(child);
    else {
      end();
      found.push(write(child));
    }
  }
  end();
  return found.filter(Boolean).join(gap);
}

function inWords(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  if (node.localName === 'br') return '\n';
  const text = node.plain ?? Array.from(node.childNodes, inWords).join('');
  const address = node.localName === 'a' ? node.href.replace('mailto:', '') : text;
  return [text, `${text}/`].some((shown) => address.endsWith(shown)) ? text : `${text} (${address})`;
}

function list(node, markOf) {
  return Array.from(node.children, (item, n) => {
    const text = textOf(item, '\n');
    const mark = /^[☐☑]/.test(text) ? '' : markOf(n);
    return mark + text.replaceAll('\n', `\n${' '.repeat(mark.length)}`);
  }).join('\n');
}

function row({ cells }) {
  return Array.from(cells, (cell) => textOf(cell, ' ').replace(/\s+/g, ' ')).join('\t');
}
