import { DraftStore } from './composer.js';

export const SIGNED_OUT = 'signed-out'; // what the login page tells the other tabs

/**
 * Show the login page in place of this one, unless its person is still signed in: another tab signed out, and
 * somebody else may sit in front of the browser next.
 * @param {DOMStringMap} signOut  of the form that signs out: the person, and the login page's address
 */
export async function leaveIfSignedOut({ user, login }) {
  const options = { headers: { Accept: 'application/json' }, credentials: 'same-origin', cache: 'no-store' };
  const response = await fetch(login, options).catch(() => null);
  if (!response?.ok) return;
  const session = await response.json();
  if (String(session.user) === user) return;
  DraftStore.close();
  document.body.replaceChildren();
  location.replace(login);
}
