import { fetchPart } from './api.js';
import { parseTrustedHtml } from './page.js';
import { setUp } from './settings_section.js';

let dialog = null;
let address = ''; // of the section that is shown
let isLeaving = false; // the entry in the history is on its way out

/**
 * Open the person's settings over the chat. They are the pages of the settings, each without its shell: if one cannot
 * be loaded, its page is opened. While they are open they have an entry in the history, so that Back closes them and a
 * reload opens them again.
 */
export async function openSettings() {
  const opener = document.querySelector('[data-opens=preferences]');
  dialog ??= create(opener);
  const { settings } = history.state ?? {};
  if (!(await show(settings ?? opener.href)) || dialog.open) return;
  reveal();
}

function create(opener) {
  const made = Object.assign(document.createElement('dialog'), { className: 'dialog settings-dialog' });
  made.setAttribute('aria-labelledby', 'settings-title');
  made.addEventListener('click', onClick);
  made.addEventListener('submit', onSubmit);
  made.addEventListener('cancel', saveText);
  made.addEventListener('close', () => {
    isLeaving = Boolean(history.state?.settings);
    if (isLeaving) history.back();
    if (!opener.checkVisibility()) document.querySelector('.sidebar-toggle').focus(); // it was in the drawer
  });
  made.addEventListener('unsaved', () => made.open || reveal());
  addEventListener('popstate', ({ state }) => {
    const hasLeft = isLeaving;
    isLeaving = false;
    if (state?.settings) openSettings();
    else if (made.open && hasLeft) history.pushState({ settings: address }, ''); // a text was not saved: open again
    else if (made.open) close();
  });
  document.body.append(made);
  return made;
}

function reveal() {
  if (!history.state?.settings) history.pushState({ settings: address }, '');
  dialog.showModal();
  dialog.querySelector('.settings-sections [aria-current]').focus();
}

/** A text is saved when it loses the focus. */
function saveText() {
  if (dialog.contains(document.activeElement)) document.activeElement.blur();
}

function close() {
  saveText();
  dialog.close();
}

/** Show a section. @returns {Promise<boolean>} false: its page is opened instead */
async function show(url) {
  const part = await fetchPart(url).catch(() => null);
  if (!part) location.assign(url);
  else put(part, url);
  return part !== null;
}

/** @param {DocumentFragment} part  of a section, or its whole page */
function put(part, url) {
  address = url;
  const section = part.querySelector('.settings-section');
  const title = section.querySelector('h1'); // of a whole page: here it is the chat's that comes first
  if (title) {
    const second = Object.assign(document.createElement('h2'), { id: title.id });
    second.append(...title.childNodes);
    title.replaceWith(second);
  }
  const current = part.querySelector('.settings-sections [aria-current]').getAttribute('href');
  if (!dialog.firstElementChild) dialog.append(part);
  else dialog.querySelector('.settings-section').replaceWith(section);
  for (const link of links()) link.ariaCurrent = link.getAttribute('href') === current ? 'page' : null;
  section.scrollTop = 0;
  if (dialog.open) {
    history.replaceState({ settings: address }, '');
    (section.querySelector('[autofocus]') ?? section).focus({ preventScroll: true });
  }
  setUp(section, () => show(address));
}

function links() {
  return Array.from(dialog.querySelectorAll('.settings-sections a'));
}

function onClick(event) {
  if (event.target === dialog) return close(); // beside it
  const link = event.target.closest('a[href]');
  if (!link || link.target || link.download || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
  event.preventDefault();
  const url = new URL(link.getAttribute('href'), new URL(address, location));
  return links().some(({ pathname }) => pathname === url.pathname) ? show(url.href) : location.assign(url);
}

/** Send a form of a section, and show the section that it leads to. A form with files leads to its page. */
async function onSubmit(event) {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || form.method === 'dialog' || form.enctype === 'multipart/form-data') return;
  event.preventDefault();
  const url = new URL(form.getAttribute('action') ?? '', new URL(address, location));
  const body = new URLSearchParams(new FormData(form, submitter));
  const response = await fetch(url, { method: 'POST', headers: { Accept: 'text/html' }, body }).catch(() => null);
  const whole = response && parseTrustedHtml(await response.text());
  if (whole?.querySelector('.settings-section')) put(whole, response.url);
  else location.assign(address); // signed out, refused or without an answer: its page says so
}
