/** Decisions about the files that a person chose, and the messages about them, without the page. */

const CAN_SUCCEED = [0, 401, 403, 429]; // no answer; the session has ended; too many requests

const MOST_NAMES = 5; // in a sentence
const LONGEST_NAME = 40; // characters
const NAME_END = 12; // of a longer name, with its extension

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
