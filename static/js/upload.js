import { page } from './page.js';

const CAN_SUCCEED = [0, 401, 403, 429]; // no answer; the session has ended; too many requests
const MOST_NAMES = 5; // in a sentence
const LONGEST_NAME = 40; // characters
const NAME_END = 12; // of a longer name, with its extension

/**
 * Upload a file. XMLHttpRequest reports the progress, which `fetch` does not.
 * @param {File} file
 * @param {HTMLProgressElement} progress
 * @param {AbortSignal} signal
 * @returns {Promise<{status: number, body: object}>} status 0: no answer
 */
export function upload(url, file, progress, signal) {
  const request = new XMLHttpRequest();
  const form = new FormData();
  form.append('file', file, file.name);
  request.upload.onprogress = ({ loaded, total }) => Object.assign(progress, { max: total, value: loaded });
  request.open('POST', url);
  request.setRequestHeader('X-CSRFToken', page.token);
  request.setRequestHeader('Accept', 'application/json');
  signal.addEventListener('abort', () => request.abort());
  return new Promise((resolve) => {
    request.onloadend = () => resolve({ status: request.status, body: parseJson(request.responseText) });
    request.send(form);
  });
}

/** Delete an upload that is not sent. If that fails, the server deletes it later by itself. */
export function deleteUpload(url) {
  fetch(url, { method: 'DELETE', headers: { 'X-CSRFToken': page.token, Accept: 'application/json' } }).catch(() => {});
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** @param {File} file @returns {'picture'|'document'} by what the browser says of it */
export function guessKind({ type }) {
  return type.startsWith('image/') && type !== 'image/svg+xml' ? 'picture' : 'document';
}

/**
 * @param {number} status  of a refused upload
 * @returns {boolean} whether another attempt can succeed; otherwise the refusal concerns the file
 */
export function isRetryable(status) {
  return CAN_SUCCEED.includes(status) || status >= 500;
}

/**
 * @param {string[]} names  of files
 * @param {(n: number) => string} more  says that there are n more
 * @returns {string} the names for a sentence: all of a few, the first ones of many
 */
export function listed(names, more) {
  const shown = names.length > MOST_NAMES ? MOST_NAMES - 1 : names.length;
  const parts = names.slice(0, shown).map(shortened);
  if (shown < names.length) parts.push(more(names.length - shown));
  return new Intl.ListFormat(document.documentElement.lang, { type: 'unit' }).format(parts);
}

function shortened(name) {
  const characters = Array.from(name);
  if (characters.length <= LONGEST_NAME) return name;
  return [...characters.slice(0, LONGEST_NAME - NAME_END - 1), '…', ...characters.slice(-NAME_END)].join('');
}
