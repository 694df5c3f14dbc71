import { showError } from './message_errors.js';

const NO_ANSWER = 'no_answer'; // error code of a request that the server did not answer

/**
 * Post JSON. If the session has ended, or a login in another tab has made this page's CSRF token invalid
 * (403), the person logs in first and the request is sent once more.
 * @param {import('./page.js').Page} page
 * @returns {Promise<{data?: object, error?: {code?: string, message?: string}}>} the response, or the error
 */
export async function postJson(page, url, body = {}, retries = 1) {
  const response = await page.post(url, body).catch(() => null);
  if (!response) return { error: { code: NO_ANSWER } };
  const data = (await response.json().catch(() => null)) ?? {};
  if (response.ok) return { data };
  if (retries && [401, 403].includes(response.status)) {
    const { login } = await import('./login_dialog.js');
    if (await login(page)) return postJson(page, url, body, retries - 1);
  }
  return { error: data.error ?? {} };
}

/** Post a change. @returns {Promise<string>} '' if it was saved, otherwise the error message for the person */
export async function saveChange(page, url, body) {
  const { error } = await postJson(page, url, body);
  if (!error) return '';
  return error.message || page.text(error.code === NO_ANSWER ? 'no-answer' : 'not-saved');
}

/**
 * Post an action on a message. A failure is shown below the message.
 * @returns {Promise<object|null>} the server's JSON; null: the request failed
 */
export async function postAction(chat, article, url, body) {
  const { data, error } = await postJson(chat.page, url, body);
  if (error) showError(article, error.message || chat.page.text('not-done'), error.code);
  return data ?? null;
}

/** Fetch a text. Rejects on an error, with its status, and on a redirect, because that leads to the login page. */
export async function fetchText(url, options = {}) {
  const response = await fetch(url, { credentials: 'same-origin', ...options });
  if (!response.ok || response.redirected) throw Object.assign(new Error(`${response.status} ${url}`), { status: response.status });
  return response.text();
}

/** Fetch a part of a page, which the server has rendered. */
export function fetchHtml(url, options = {}) {
  return fetchText(url, { headers: { Accept: 'text/html', 'X-Requested-With': 'fetch' }, ...options });
}
