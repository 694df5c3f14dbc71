import { page, parseTrustedHtml } from './page.js';

const NO_ANSWER = 'no_answer'; // error code of a request that the server did not answer

/**
 * Make a request. If the session has ended, or a login in another tab has made this page's CSRF token invalid
 * (403), the person logs in first and it is made once more.
 * @template {{status?: number}|null} Answer
 * @param {() => Promise<Answer>} request  whose answer has the status
 * @returns {Promise<Answer>}
 */
export async function withLogin(request) {
  const answer = await request();
  if (![401, 403].includes(answer?.status)) return answer;
  return (await logIn()) ? request() : answer;
}

/** Let the person log in again, see login_dialog.js. @returns {Promise<boolean>} false also if it cannot be loaded */
export async function logIn() {
  const { login } = await import('./login_dialog.js').catch(() => ({}));
  return Boolean(await login?.());
}

/**
 * Post JSON. Who is not logged in any more logs in first.
 * @returns {Promise<{data?: object, error?: {code?: string, message?: string}}>} the response, or the error
 */
export async function postJson(url, body = {}) {
  const response = await withLogin(() => page.post(url, body).catch(() => null));
  if (!response) return { error: { code: NO_ANSWER } };
  const data = (await response.json().catch(() => null)) ?? {};
  return response.ok ? { data } : { error: data.error ?? {} };
}

/** Post a change. @returns {Promise<string>} '' if it was saved, otherwise the error message for the person */
export async function saveChange(url, body) {
  const { error } = await postJson(url, body);
  if (!error) return '';
  return error.message || page.text(error.code === NO_ANSWER ? 'no-answer' : 'not-saved');
}

/**
 * Post an action on a message. A failure is shown below the message.
 * @returns {Promise<object|null>} the server's JSON; null: the request failed
 */
export async function postAction(article, url, body) {
  const { data, error } = await postJson(url, body);
  if (error) showError(article, error.message || page.text('not-done'), error.code);
  return data ?? null;
}

/** Fetch a text. Rejects on an error, with its status, and on a redirect, because that leads to the login page. */
export async function fetchText(url, options) {
  const response = await fetch(url, options);
  if (!response.ok || response.redirected) throw Object.assign(new Error(`${response.status} ${url}`), { status: response.status });
  return response.text();
}

/** Fetch JSON. Rejects as `fetchText` does. */
export async function fetchJson(url, options) {
  return JSON.parse(await fetchText(url, { headers: { Accept: 'application/json' }, ...options }));
}

/**
 * Fetch a part of a page, which the server has rendered, and load its style sheet.
 * @returns {Promise<DocumentFragment>}
 */
export async function fetchPart(url, options) {
  const headers = { Accept: 'text/html', 'X-Requested-With': 'fetch' };
  const part = parseTrustedHtml(await fetchText(url, { headers, ...options }));
  const link = part.querySelector('link[rel=stylesheet]');
  if (link) await loadStyles(link);
  return part;
}

/** @returns {Promise<Element>} the thread of a page of this conversation; rejects if it could not be fetched */
export async function fetchThread(url = page.url('conversation', page.conversation)) {
  return (await fetchPart(url)).querySelector('#thread');
}

/** Load a style sheet once. Without it, the part works as well. */
function loadStyles(link) {
  link.remove();
  if (document.head.querySelector(`[href="${link.getAttribute('href')}"]`)) return undefined;
  return new Promise((resolve) => {
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
}

/**
 * Show an error below the message that it concerns. Screen readers read it out.
 * @param {string} [code]  the error's code; a `busy` error is removed when the reply that was in the way ends
 */
export function showError(article, text, code = '') {
  clearError(article);
  const error = document.createElement('p');
  error.className = 'message-error';
  error.role = 'alert';
  error.dataset.code = code;
  article.append(error);
  error.textContent = text;
  error.scrollIntoView({ block: 'nearest' });
}

export function clearError(article) {
  article?.querySelector('.message-error')?.remove();
}
