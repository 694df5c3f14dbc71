import { cloneTemplate, page } from './page.js';
import { hasSignedOut, leaveIfSignedOut } from './tabs.js';

const JSON_OPTIONS = { headers: { Accept: 'application/json' } };
let open = null; // the result of the open dialog, shared by all callers

/**
 * Let the person whose session ended log in again, without leaving the page. Until then the page is hidden, since
 * somebody else may sit in front of it; who does not log in leaves it.
 * @returns {Promise<boolean>} true if they did; then every form of the page has a valid CSRF token again
 */
export function login() {
  open ??= showDialog().finally(() => (open = null));
  return open;
}

async function showDialog() {
  const back = document.activeElement;
  if (await checkSession()) return true;
  if (hasSignedOut() && (await leaveIfSignedOut())) return new Promise(() => {});
  const dialog = cloneTemplate('sign-in-template');
  document.body.append(dialog);
  dialog.showModal();
  if (!(await waitForLogin(dialog))) return leave();
  dialog.remove();
  const box = document.getElementById('content');
  (back?.isConnected && back !== document.body ? back : box).focus({ preventScroll: true });
  return true;
}

/** Show the login page, which leads back. What was typed is kept as a draft. */
function leave() {
  document.body.replaceChildren();
  location.replace(`${page.url('login')}?next=${encodeURIComponent(location.pathname)}`);
  return new Promise(() => {});
}

function waitForLogin(dialog) {
  const check = async () => {
    // The person may have logged in in another tab meanwhile.
    if (!document.hidden && (await checkSession())) dialog.close('in');
  };
  document.addEventListener('visibilitychange', check);
  dialog.querySelector('[value=cancel]').addEventListener('click', () => dialog.close());
  dialog.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    attempt(dialog);
  });
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      document.removeEventListener('visibilitychange', check);
      resolve(dialog.returnValue === 'in');
    });
  });
}

async function attempt(dialog) {
  const [form, button, error] = ['form', '.strong', '.error'].map((part) => dialog.querySelector(part));
  if (button.ariaDisabled) return;
  button.ariaDisabled = 'true';
  error.textContent = '';
  const message = await submitLogin(new URLSearchParams(new FormData(form)));
  button.ariaDisabled = null;
  if (!message) return dialog.close('in');
  error.textContent = message;
  form.elements.password.select();
  form.elements.password.focus();
}

/** @returns {Promise<string>} '' or the error message for the person */
async function submitLogin(fields) {
  try {
    // Get the current token first: a login or logout in another tab has made this page's invalid.
    if (await checkSession()) return '';
    fields.set('csrfmiddlewaretoken', page.token);
    const response = await fetch(page.url('login'), { method: 'POST', body: fields, ...JSON_OPTIONS });
    const result = await response.json();
    if (!response.ok) return result.error.message;
    return (await adoptSession(result)) ? '' : page.text('no-answer');
  } catch {
    return page.text('no-answer');
  }
}

async function checkSession() {
  const session = await fetch(page.url('login'), JSON_OPTIONS).then((response) => response.ok && response.json()).catch(() => false);
  return session && adoptSession(session);
}

/**
 * Take over the session's token. The page belongs to one person: if another one is logged in
 * now, it is reloaded and does nothing more.
 */
async function adoptSession({ user, csrf }) {
  page.token = csrf;
  if (user === null) return false;
  if (String(user) === document.getElementById('chat').dataset.user) return true;
  location.reload();
  return new Promise(() => {});
}
