import { fetchHtml } from './api.js';
import { parseTrustedHtml } from './page.js';
import { loadStyles } from './styles.js';

export const SESSION_ENDED = [401, 403]; // 403: a sign-in in another tab has made this page's CSRF token invalid

let parts; // a promise of the templates, the sentences and the dialog, which the server has rendered

/**
 * Load what the page does not have before a file is added. A person whose session has ended logs in first.
 * @returns {Promise<HTMLElement>} with the sentences
 */
export async function loadParts(page) {
  try {
    return await peekParts(page);
  } catch (error) {
    if (!SESSION_ENDED.includes(error.status)) throw error;
    const { login } = await import('./login_dialog.js');
    if (!(await login(page))) throw error;
    return peekParts(page);
  }
}

/** The same for what can be left out: nobody is asked to log in for it. */
export function peekParts(page) {
  parts ??= fetchParts(page);
  parts.catch(() => (parts = undefined)); // the next use tries again
  return parts;
}

/** @returns {string} one of the sentences, with these values in its places */
export function sentence(words, name, values = {}) {
  return words.dataset[name].replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}

async function fetchParts(page) {
  const fragment = parseTrustedHtml(await fetchHtml(page.url('attachments')));
  await loadStyles(fragment.querySelector('link'));
  document.body.append(fragment);
  return document.getElementById('attachment-words');
}
