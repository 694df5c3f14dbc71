import { DraftStore } from './composer.js';

export const SIGNED_OUT = 'signed-out'; // what the login page tells the other tabs

/** @returns {boolean} true if somebody signed out in this browser since the page was loaded, heard of or not */
export function hasSignedOut() {
  return Number(localStorage.getItem(SIGNED_OUT)) > performance.timeOrigin;
}

/**
 * Show the login page in place of this one, unless its person is still signed in: another tab signed out, and
 * somebody else may sit in front of the browser next.
 * @param {DOMStringMap} signOut  of the form that signs out: the person, and the login page's address
 * @returns {Promise<boolean>} true if the page is being left
 */
export async function leaveIfSignedOut({ user, login }) {
  const options = { headers: { Accept: 'application/json' }, credentials: 'same-origin', cache: 'no-store' };
  const response = await fetch(login, options).catch(() => null);
  if (!response?.ok) return false;
  const session = await response.json();
  if (String(session.user) === user) return false;
  DraftStore.close();
  document.body.replaceChildren();
  location.replace(login);
  return true;
}
