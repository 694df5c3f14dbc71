import { drafts } from './drafts.js';

const SIGNED_OUT = 'signed-out'; // what the login page tells the other tabs, with its cookie of the same name

let channel = null;

/**
 * Tell the other tabs of this browser.
 * @param {string} what  the conversation with a new turn; '': only the list was changed; or SIGNED_OUT
 */
export function tellTabs(what) {
  const open = channel ?? new BroadcastChannel('chat');
  open.postMessage(what);
  if (open !== channel) open.close();
}

/** Hear what other tabs tell, and leave the page when its person has signed out in one. */
export function hearTabs(onMessage = () => {}) {
  const open = () => {
    channel ??= new BroadcastChannel('chat');
    channel.onmessage = ({ data }) => (data === SIGNED_OUT ? leaveIfSignedOut() : onMessage(data));
    if (hasSignedOut()) leaveIfSignedOut();
  };
  addEventListener('pageshow', open);
  addEventListener('pagehide', () => {
    channel?.close(); // a page with an open one is kept out of the back/forward cache
    channel = null;
  });
  open();
}

/** On the login page, after a sign-out: tell the other tabs. They ask the server whether it is so. */
export function tellSignOut() {
  const cookie = `${SIGNED_OUT}=`;
  if (!document.cookie.includes(cookie)) return;
  document.cookie = `${cookie};path=${location.pathname};max-age=0`;
  tellTabs(SIGNED_OUT);
  localStorage.setItem(SIGNED_OUT, Date.now()); // for those that were not listening
}

/** @returns {boolean} true if somebody signed out in this browser since the page was loaded, heard of or not */
export function hasSignedOut() {
  return Number(localStorage.getItem(SIGNED_OUT)) > performance.timeOrigin;
}

/**
 * Show the login page in place of this one, unless its person is still signed in: another tab signed out, and
 * somebody else may sit in front of the browser next.
 * @returns {Promise<boolean>} true if the page is being left
 */
export async function leaveIfSignedOut() {
  const form = document.getElementById('sign-out');
  if (!form) return true; // it was emptied before: a tab's word and the server's answer may come together
  const { user, login } = form.dataset;
  const response = await fetch(login, { headers: { Accept: 'application/json' }, cache: 'no-store' }).catch(() => null);
  if (!response?.ok) return false;
  const session = await response.json();
  if (String(session.user) === user) return false;
  drafts.close();
  document.body.replaceChildren();
  location.replace(login);
  return true;
}
